package gwrun

import (
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAWorkerThatIsKilledTakesItsProgramsWithIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := work(t, databaseURL, tasks(t, map[string]string{"a": `echo "pid $$"; exec sleep 1000`}))
	id := addJob(t, pool, "a", "{}")
	pid := pidBehind(t, p.waitLog("pid ").Msg, "pid ")
	p.signal(syscall.SIGKILL)
	<-p.ended
	waitGone(t, pid)
	// The job stays locked until another worker frees it.
	if !pgtest.Value[bool](t, pool, "select locked_at is not null from graphile_worker._private_jobs where id = $1",
		id) {
		t.Error("the job is not locked")
	}
}

func TestAWorkerThatIsKilledTakesItsPersistentProgramsWithIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	p, pid := startStubborn(t)
	p.signal(syscall.SIGKILL)
	<-p.ended
	waitGone(t, pid)
}
