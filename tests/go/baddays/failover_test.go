package baddays

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/pgtest"
)

// The primary is killed under load and its standby is promoted. The standby was synchronous, so no committed change is lost.
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

// standbyOf creates a standby, which is stopped after the test.
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

// eitherOf returns a URL with several hosts, of which clients use the one that is writable.
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
	return "postgres://postgres@/postgres?host=" + hosts + "&port=" + ports +
		"&target_session_attrs=read-write&connect_timeout=5"
}

// On a server that refuses writes a worker waits and logs the reason once.
func TestOnAReadOnlyServerAWorkerWaitsAndSaysSoOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	network, through := newProxy(t, f.url)
	w := f.workers(1, through)[0]
	l := f.load()
	f.awaitMore(50)
	database := pgtest.Value[string](t, f.pool, "select quote_ident(current_database())")
	f.exec("begin; set transaction read write; alter database " + database +
		" set default_transaction_read_only = on; commit")
	network.reset()
	f.awaitLog(w, "server is read-only, worker waits for a server that accepts writes")
	tries := len(network.arrivals())
	f.waitUntil("more tries", func() bool { return len(network.arrivals()) > tries+5 }, w.logs.String)
	if n := strings.Count(w.logs.String(), "read-only"); n != 1 {
		t.Errorf("the reason was logged %d times", n)
	}
	f.exec("begin; set transaction read write; alter database " + database +
		" reset default_transaction_read_only; commit")
	f.pool.Reset() // the producer's sessions that have begun meanwhile stay read-only
	f.awaitLog(w, "server accepts writes again")
	f.awaitMore(50)
	l.stop()
	f.await(done)
	f.account(l)
}

// The primary is demoted but keeps running: workers are not notified, and their connections stay open.
func TestWorkersLeaveAPrimaryThatWasDemoted(t *testing.T) {
	t.Parallel()
	primary := ownServer(t, nil)
	standby := standbyOf(t, primary, "")
	admin := pgtest.Pool(t, primary.URL("postgres"))
	f := newFleet(t, eitherOf(t, primary, standby))
	w := f.workers(1, f.url)[0]
	pgtest.Exec(t, admin, "select graphile_worker.add_job('work', json_build_object('N', 1))")
	f.waitUntil("the first job", func() bool { return f.ended() == 1 }, w.logs.String)
	there := pgtest.Pool(t, standby.URL("postgres"))
	pgtest.Await(t, there, "select not exists (select from graphile_worker.jobs)") // else it runs again there

	pgtest.Exec(t, admin, "alter system set default_transaction_read_only = on")
	pgtest.Exec(t, admin, "select pg_reload_conf()")
	f.awaitLog(w, "server is read-only")
	promote(t, standby)
	f.awaitLog(w, "server accepts writes again")
	pgtest.Await(t, there, "select count(*) = 1 from pg_stat_activity where query like 'listen %'")
	pgtest.Exec(t, there, "select graphile_worker.add_job('work', json_build_object('N', 2))")
	f.waitUntil("the second job", func() bool { return f.ended() == 2 }, w.logs.String)
}

// The standby is asynchronous and has not received the last changes: added jobs and ended jobs.
func TestAfterAFailoverToAnAsynchronousStandbyTheRestIsDone(t *testing.T) {
	t.Parallel()
	primary := ownServer(t, nil)
	line, followed := newProxy(t, primary.URL("postgres"))
	u, err := url.Parse(followed)
	if err != nil {
		t.Fatal(err)
	}
	standby := standbyOf(t, primary, "host="+u.Hostname()+" port="+u.Port()+" user=postgres")
	admin := pgtest.Pool(t, primary.URL("postgres"))
	f := newFleet(t, eitherOf(t, primary, standby))
	workers := f.workers(3, f.url)
	l := f.load()
	f.awaitMore(200)
	pgtest.Await(t, admin, "select count(*) > 0 from pg_stat_replication where replay_lsn is not null")
	line.stall()
	cut := l.added.Load()
	f.awaitMore(100)
	l.awaitMore(50)
	if err := primary.Halt(true); err != nil {
		t.Fatal(err)
	}
	promote(t, standby)
	for _, w := range workers {
		f.awaitLog(w, "database cannot be reached")
	}
	f.awaitMore(200)
	l.stop()
	f.await(done) // nothing stays locked

	missing := make(map[int]bool)
	runs := f.runs()
	for _, r := range l.acked {
		missing[r.n] = true
	}
	again := 0
	for _, r := range runs {
		if !missing[r.n] {
			again++
		}
		missing[r.n] = false
	}
	lost := 0
	for i, r := range l.acked {
		if missing[r.n] && r.key == "" {
			lost++
			if int64(i) < cut-100 {
				t.Errorf("job %d was lost, although it was added long before the replication broke", r.n)
			}
		}
	}
	t.Logf("%d jobs added, %d before the replication broke; %d lost, %d run again", len(l.acked), cut, lost, again)
}
