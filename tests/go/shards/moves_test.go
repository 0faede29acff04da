package shards

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var jobsFlag = flag.Int64("shards.jobs", 1500, "how many `jobs` are added while slots are moved")

// Slots move all the time. Movers, workers and a server are killed.
func TestJobsAreNeitherLostNorRunTwiceNorOutOfOrderWhileSlotsMove(t *testing.T) {
	pgtest.OnOneVersion(t)
	f := newFleet(t)
	workers := []*worker{f.work("--home", "a"), f.work("--home", "b"), f.work("--home", "c"), f.work()}
	p := f.produce(4)

	moves, killedMovers := 0, 0
	stopMoving, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for round := 0; ; round++ {
			select {
			case <-stopMoving:
				return
			default:
			}
			first := rand.IntN(240)
			mover := exec.Command(pgtest.Program(t, "gw-run"), "shards", "move", "--shards", f.mapPath, "--wait", "5s",
				fmt.Sprintf("%d-%d", first, first+rand.IntN(16)), string(rune('a'+rand.IntN(4))))
			if err := mover.Start(); err != nil {
				t.Error(err)
				return
			}
			if round%3 == 2 { // at any step
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
				_ = mover.Process.Kill()
				killedMovers++
			}
			if mover.Wait() == nil {
				moves++
			}
		}
	}()

	p.awaitMore(t, *jobsFlag/4)
	f.kill(workers[0])
	workers[0] = f.work("--home", "a")
	p.awaitMore(t, *jobsFlag/4)
	if err := f.servers[1].Halt(true); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // the duration of the outage
	if err := f.servers[1].Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c", "d"} {
		f.pools[name].Reset()
	}
	p.awaitMore(t, *jobsFlag/4)
	f.kill(workers[2])
	workers[2] = f.work("--home", "c")
	p.awaitMore(t, *jobsFlag/4)
	p.end()
	close(stopMoving)
	<-stopped
	f.run("gw-run", "shards", "resume", "--shards", f.mapPath, "--wait", "1m")
	f.drained()
	f.checkOwners()
	t.Logf("%d moves, %d movers killed", moves, killedMovers)
	f.account(t, p.acked)
	if list := f.run("gw-run", "shards", "--shards", f.mapPath); strings.Count(list, "up") < 4 {
		t.Errorf("the shards are\n%s", list)
	}
}

// A shard that is away takes no slots from the others, and comes back by itself.
func TestADeadShardDoesNotAffectTheOthersAndComesBack(t *testing.T) {
	pgtest.OnOneVersion(t)
	f := newFleet(t)
	if err := f.servers[1].Halt(true); err != nil {
		t.Fatal(err)
	}
	w := f.work("--home", "a", "--http", "127.0.0.1:0")
	p := f.produce(2)
	pgtest.Await(t, f.pools["a"], "select exists (select from graphile_worker._gw_workers where last_seen_at > started_at)")
	pgtest.Await(t, f.pools["b"], "select exists (select from graphile_worker._gw_workers where id like '%.visitor')")
	p.awaitMore(t, 20)
	for _, name := range []string{"a", "b"} { // the jobs of both are run
		pgtest.Await(t, f.pools[name], "select (select last_value from graphile_worker.jobs_id_seq1) > 5")
	}
	if err := f.servers[1].Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c", "d"} {
		f.pools[name].Reset()
		pgtest.Await(t, f.pools[name], "select exists (select from graphile_worker._gw_workers where id like '%.visitor')")
	}
	p.awaitMore(t, 50)
	p.end()
	f.drained()
	select {
	case <-w.done:
		t.Errorf("the worker has ended:\n%s", w.logs.String())
	default:
	}
	f.account(t, p.acked)
}
