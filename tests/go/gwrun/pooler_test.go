package gwrun

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/pgtest/pgbouncer"
)

func TestBehindAPoolerInTransactionModeAWorkerNeedsToBeToldHowToListen(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pooled := pgbouncer.Start(t, databaseURL) + "/transaction?sslmode=disable"
	folder := tasks(t, map[string]string{"short": "exit 0"})
	for name, options := range map[string][]string{
		"a direct connection": {"--listen-url", databaseURL, "--poll-interval", "1h"},
		"polling":             {"--no-listen", "--poll-interval", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			p := work(t, pooled, folder, append(options, "--no-migrate", "--no-prepared-statements")...)
			p.waitLog("worker started")
			for range 2 {
				addJob(t, pool, "short", "{}")
				pgtest.Await(t, pool, queueIsEmpty)
			}
		})
	}
	p := work(t, pooled, folder, "--no-migrate", "--no-prepared-statements")
	p.wantExit(1)
	if stderr := p.stderr.String(); !strings.Contains(stderr, "--listen-url") {
		t.Errorf("the error does not say which flag to set:\n%s", stderr)
	}
}
