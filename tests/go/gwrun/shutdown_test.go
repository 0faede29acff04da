package gwrun

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAStopLetsRunningJobsFinishAndStartsNoOther(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, pgtest.User2, syscall.SIGABRT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			databaseURL := pgtest.Database(t)
			pool := pgtest.Pool(t, databaseURL)
			gate := newGate(t)
			p := work(t, databaseURL, tasks(t, map[string]string{"a": `echo started; read -r word < '` + gate +
				`'; echo finished`}))
			addJob(t, pool, "a", "{}")
			p.waitLog("started")
			second := addJob(t, pool, "a", "{}")
			p.signal(syscall.SIGHUP) // has no effect
			p.signal(signal)
			p.waitLog("worker is stopping")
			openGate(t, gate)
			p.wantExit(0)
			p.waitLog("finished")
			wantJob(t, pool, second, 0)
			if n := pgtest.Value[int](t, pool, "select count(*)::int from graphile_worker._private_jobs"); n != 1 {
				t.Errorf("%d jobs are left, want 1", n)
			}
		})
	}
}

func TestWhenTheGraceTimeIsOverJobsAreInterruptedAndReturned(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := work(t, databaseURL, tasks(t, map[string]string{"a": `echo started; exec sleep 1000`}), "--grace", "100ms")
	id := addJob(t, pool, "a", "{}")
	p.waitLog("started")
	p.signal(syscall.SIGTERM)
	p.wantExit(128 + int(syscall.SIGTERM))
	wantJob(t, pool, id, 0)
}

func TestASecondSignalEndsTheGraceTime(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := work(t, databaseURL, tasks(t, map[string]string{"a": `echo started; exec sleep 1000`}), "--grace", "1h")
	id := addJob(t, pool, "a", "{}")
	p.waitLog("started")
	p.signal(syscall.SIGINT)
	p.waitLog("worker is stopping")
	p.signal(syscall.SIGTERM)
	p.wantExit(128 + int(syscall.SIGINT)) // the first signal is the reason
	wantJob(t, pool, id, 0)
}

func TestAWorkerWhoseOutputNobodyReadsStops(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, nil, "-c", databaseURL, "--tasks", tasks(t, map[string]string{"a": "cat > /dev/null; echo x"}))
	p.cmd.Stderr = writer
	p.start()
	pgtest.Await(t, pool, "select exists (select from graphile_worker._gw_workers)")
	if err := errors.Join(writer.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	addJob(t, pool, "a", "{}") // so that there is something to log
	p.wantExit(0)
	pgtest.Await(t, pool, "select not exists (select from graphile_worker._private_jobs where locked_at is not null)")
}

// newGate creates a named pipe on which a script can wait.
func newGate(t *testing.T) string {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := pgtest.MakePipe(gate); err != nil {
		t.Fatal(err)
	}
	return gate
}

// openGate lets the script continue that waits at the gate.
func openGate(t *testing.T, gate string) {
	t.Helper()
	if err := os.WriteFile(gate, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pidBehind returns the process id at the end of a message.
func pidBehind(t *testing.T, message, prefix string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(message, prefix))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// waitGone waits until a process has ended.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !errors.Is(pgtest.Kill(pid, 0), syscall.ESRCH); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still running", pid)
		}
	}
}
