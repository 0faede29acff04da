package baddays

import (
	"testing"
)

// A fast restart ends every session, a crash ends every process; both happen twice under load.
func TestARestartOrACrashOfTheServerLosesNothing(t *testing.T) {
	t.Parallel()
	server := ownServer(t, nil)
	f := newFleet(t, server.URL("postgres"))
	f.workers(3, f.url)
	l := f.load()
	for _, immediate := range []bool{false, true, false, true} {
		f.awaitMore(100)
		if err := server.Halt(immediate); err != nil {
			t.Fatal(err)
		}
		if err := server.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}

// Random sessions of the workers and of the producer are ended.
func TestSessionsThatAreEndedAtRandomLoseNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t, ownServer(t, nil).URL("postgres"))
	f.workers(3, f.url)
	l := f.load()
	for range 30 {
		f.awaitMore(10)
		f.await(`select count(pg_terminate_backend(pid)) >= 0 from (
			select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 2) as p`)
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}
