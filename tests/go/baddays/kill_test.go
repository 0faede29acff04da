package baddays

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// Workers, half of which run executables, are repeatedly killed under load, or paused for longer than dead_after. Each is
// replaced. Their jobs run again, and no other jobs do.
func TestWorkersThatAreKilledWithoutEndLoseNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	// Not by pgtest.Hurry: on a busy machine a worker that lives may miss its beats for two seconds.
	f.exec(`select graphile_worker.set_setting('dead_after', '6 seconds'), graphile_worker.set_setting('recovered_jobs', 'run'),
	               graphile_worker.set_setting('crashes_allowed', '1000')`)
	f.start("stays", f.url)
	var alive []*worker
	hire := func(n int) {
		id := fmt.Sprint("w", n)
		start := f.start
		if n%2 == 1 {
			start = f.startExecutables
		}
		w := start(id, f.url)
		f.awaitLog(w, "worker started")
		alive = append(alive, w)
	}
	hire(0)
	hire(1)
	l := f.load()
	for n := range 6 {
		f.awaitMore(40)
		victim := alive[0]
		alive = alive[1:]
		f.excused[victim.id] = true
		if n == 4 { // a Go worker
			f.paused[victim.id] = true
			victim.signal(pgtest.Stop)
			time.AfterFunc(9*time.Second, func() { _ = victim.cmd.Process.Signal(pgtest.Continue) })
		} else {
			victim.signal(syscall.SIGKILL)
		}
		hire(n + 2)
	}
	f.awaitMore(40)
	l.stop()
	f.await(done)
	f.account(l)
}

// note is a task for gw-run that writes the same notes as the handler in worker_test.go.
const note = `#!/bin/sh
read -r input
case $input in *'}') ;; *) exit 1 ;; esac # gw-run was killed before it had written it
n=${input#*'"N":'} n=${n%%[!0-9]*} queue=
[ $((n % 3)) = 0 ] && queue=q$((n % 9))
job="$n,$queue,$GRAPHILE_WORKER_JOB_KEY,$ID"
echo "start,$job" >>"$NOTES"
echo "end,$job" >>"$NOTES"
`

// startExecutables starts a gw-run with the task "work".
func (f *fleet) startExecutables(id, url string) *worker {
	f.t.Helper()
	tasks := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(tasks, "work"), []byte(note), 0o755); err != nil {
		f.t.Fatal(err)
	}
	w := &worker{t: f.t, id: id, cmd: exec.Command(pgtest.Program(f.t, "gw-run"), "-c", url, "--tasks", tasks, "-j",
		"2"), logs: &transcript{}, end: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), "ID="+id, "NOTES="+f.folder+"/notes")
	w.run()
	return w
}
