package operate

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest/pgbouncer"
)

func TestTheCommandsWorkBehindAPooler(t *testing.T) {
	b := newBench(t)
	b.url = pgbouncer.Start(t, b.url) + "/single?sslmode=disable"
	b.want(b.run("add", "t", "--key", "k"), result{stdout: "Job 1 added: ready\n"})
	b.wantPart(b.run("add", "t", "--run-at", "2100-01-02 03:04", "--json"), 0, `"run_at":"2100-01-02T03:04:00+00:00"`,
		"")
	b.want(b.run("fail", "1"), result{stdout: "Failed 1 job.\n"})
	b.want(b.run("retry", "--task", "t", "--state", "failed", "--yes"), result{stdout: "Retried 1 job.\n"})
	for _, args := range []string{"jobs", "show 1", "queues", "tasks", "workers", "stats --over 0s", "doctor",
		"cleanup", "remove --key k",
		"cron list", "healthcheck --timeout 1m"} {
		b.wantPart(b.run(strings.Fields(args)...), 0, "", "")
	}
}
