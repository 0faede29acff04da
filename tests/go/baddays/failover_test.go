package baddays

import (
	"net/url"
	"testing"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/pgtest"
)

// The primary dies under load and its standby is promoted. It was synchronous, so nothing that was said to be done is lost.
func TestAFailoverToASynchronousStandbyLosesNothing(t *testing.T) {
	t.Parallel()
	primary := ownServer(t, nil)
	standby := standbyOf(t, primary, "")
	admin := pgtest.Pool(t, primary.URL("postgres"))
	pgtest.Exec(t, admin, "alter system set synchronous_standby_names = '*'")
	pgtest.Exec(t, admin, "select pg_reload_conf()")
	pgtest.Await(t, admin, "select coalesce(bool_or(sync_state = 'sync'), false) from pg_stat_replication")

	f := newFleet(t, eitherOf(t, primary, standby))
	f.workers(3, f.url)
	l := f.load()
	f.awaitMore(200)
	if err := primary.Halt(true); err != nil {
		t.Fatal(err)
	}
	promote(t, standby)
	f.awaitMore(200)
	l.stop()
	f.await(done)
	f.account(l)
}

// standbyOf makes a standby, stopped after the test.
func standbyOf(t *testing.T, primary *pgtemp.Server, follow string) *pgtemp.Server {
	t.Helper()
	standby, err := primary.Standby(t.Context(), follow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Stop(); err != nil {
			t.Error(err)
		}
	})
	return standby
}

func promote(t *testing.T, standby *pgtemp.Server) {
	t.Helper()
	pgtest.Exec(t, pgtest.Pool(t, standby.URL("postgres")), "select pg_promote()")
}

// eitherOf returns a URL with several hosts, of which the one that can be written to is taken.
func eitherOf(t *testing.T, servers ...*pgtemp.Server) string {
	t.Helper()
	hosts, ports := "", ""
	for i, server := range servers {
		u, err := url.Parse(server.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			hosts, ports = hosts+",", ports+","
		}
		hosts += u.Query().Get("host")
		ports += "5432"
	}
	return "postgres://postgres@/postgres?host=" + hosts + "&port=" + ports + "&target_session_attrs=read-write&connect_timeout=5"
}
