package migrate_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestAHotStandbyIsRefused(t *testing.T) {
	standby := startStandby(t)
	_, err := newMigrator(t, standby, migrate.Config{}).Up(t.Context())
	if refusal := refusalOf(t, err); refusal.Reason != migrate.ReasonReadOnly ||
		refusal.Problem != "the server is a hot standby" {
		t.Errorf("got %v", err)
	}
}

// startStandby turns a private server into a standby without a primary: it is configured as one, and then one of its
// processes is killed, after which the server restarts.
func startStandby(t *testing.T) (databaseURL string) {
	t.Helper()
	databaseURL = pgtest.Server(t, nil).URL("postgres")
	conn := connect(t, databaseURL)
	directory := texts(t, conn, "select current_setting('data_directory')")[0]
	execute(t, conn, "copy (select) to '"+directory+"/standby.signal'")
	victim, err := os.FindProcess(int(conn.PgConn().PID()))
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		standby, err := isStandby(ctx, databaseURL)
		if standby {
			return databaseURL
		}
		select {
		case <-ctx.Done():
			t.Fatalf("wait for the standby: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func isStandby(ctx context.Context, databaseURL string) (standby bool, err error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, "select pg_is_in_recovery()").Scan(&standby)
	return standby, err
}
