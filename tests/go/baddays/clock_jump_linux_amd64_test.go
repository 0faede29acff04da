package baddays

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// jumps are files added to gw-run, with which the runtime asks our function for the time. The function makes the system call, and
// moves the wall clock an hour ahead, and two seconds later an hour behind. Compiling another package time would take a minute.
var jumps = map[string]string{
	"jump_linux_amd64.go": `package main

func jump()

func init() { jump() }
`,
	"jump_linux_amd64.s": `#include "textflag.h"

TEXT ·jump(SB), NOSPLIT, $0-0
	LEAQ ·clockGettime(SB), AX
	MOVQ AX, runtime·vdsoClockgettimeSym(SB)
	RET

// As in C: DI is the clock, SI where its seconds and nanoseconds go.
TEXT ·clockGettime(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $228, AX
	SYSCALL
	TESTL DI, DI
	JNE  done // not the wall clock
	MOVQ 0(SI), CX
	ANDQ $2, CX
	IMULQ $3600, CX
	SUBQ $3600, CX
	ADDQ CX, 0(SI)
done:
	XORL AX, AX
	RET
`,
}

// The clock of the workers jumps by two hours, back and forth, without an effect: jobs run when they are due, retries wait as long
// as the database decides, recurring jobs run once a minute, and no worker counts as dead.
func TestWorkersWhoseClockJumpsWorkAsEver(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	gwRun := buildWithJumps(t)
	f := newFleet(t, pgtest.Database(t))
	f.exec(`select graphile_worker.set_setting('beat_every', '500 milliseconds'), graphile_worker.set_setting('stale_sweep_every', '1 second')`)
	tasks := t.TempDir()
	for name, script := range map[string]string{
		"work":  note,
		"tick":  "#!/bin/sh\necho tick >>\"$NOTES.tick\"\n",
		"later": "#!/bin/sh\ndate +%s%3N >>\"$NOTES.later\"\n",
		"retry": "#!/bin/sh\ndate +%s%3N >>\"$NOTES.retry\"\n[ \"$GRAPHILE_WORKER_JOB_ATTEMPTS\" = 2 ]\n",
	} {
		if err := os.WriteFile(filepath.Join(tasks, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	crontab := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(crontab, []byte("* * * * * tick\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var workers []*worker
	for i := range 2 {
		w := &worker{t: t, id: fmt.Sprint("w", i), logs: &transcript{}, end: make(chan struct{})}
		w.cmd = exec.Command(gwRun, "-c", f.url, "--tasks", tasks, "--crontab", crontab, "-j", "2")
		w.cmd.Env = append(os.Environ(), "ID="+w.id, "NOTES="+f.folder+"/notes")
		w.run()
		workers = append(workers, w)
	}
	for _, w := range workers {
		f.awaitLog(w, "worker started")
	}
	l := f.load()
	f.awaitMore(50)
	due := pgtest.Value[int64](t, f.pool, `
		select (extract(epoch from run_at) * 1000)::bigint from graphile_worker.add_job('later', run_at => now() + interval '4 seconds')`)
	f.exec(`select graphile_worker.add_job('retry')`)
	const minutes = `
		select count(*) from graphile_worker._private_known_crontabs as k,
		       generate_series(date_trunc('minute', k.known_since) + interval '1 minute', clock_timestamp(), '1 minute')`
	if *clockFlag {
		f.await(`select (`+minutes+`) >= $1`, 1) // a minute passes
		f.awaitMore(50)
	}
	for _, w := range workers {
		f.waitUntil("the clock to jump", func() bool { return jumped(w.logs.String()) }, w.logs.String)
	}
	l.stop()
	f.await(done)
	var passed int
	f.waitUntil("the recurring jobs", func() bool {
		passed = pgtest.Value[int](t, f.pool, minutes)
		return len(f.times("tick")) >= passed
	}, func() string { return "" })
	f.account(l)

	for _, w := range workers {
		if logs := w.logs.String(); strings.Contains(logs, "recovered") || strings.Contains(logs, "lease lost") {
			t.Errorf("%s says: %s", w.id, logs)
		}
		w.leave()
	}
	if got, most := len(f.times("tick")), pgtest.Value[int](t, f.pool, minutes); got < passed || got > most {
		t.Errorf("the recurring job ran %d times in %d to %d minutes", got, passed, most)
	}
	if later := f.times("later"); len(later) != 1 || later[0] < due ||
		later[0] > due+60_000 { // a jump is an hour or more
		t.Errorf("a job that was due at %d ran at %d", due, later)
	}
	retries := f.times("retry")
	if len(retries) != 2 || retries[1]-retries[0] < 2700 || retries[1]-retries[0] > 60_000 {
		t.Errorf("a job that was to wait 2.7 s ran at %d", retries)
	}
}

// buildWithJumps builds a gw-run whose clock jumps.
func buildWithJumps(t *testing.T) string {
	t.Helper()
	source, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/gwsql/gw/cmd/gw-run").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), make(map[string]string)
	for name, text := range jumps {
		replace[filepath.Join(strings.TrimSpace(string(source)), name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gw-run")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program,
		"github.com/gwsql/gw/cmd/gw-run")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in pgtest.Program, so that the compiled packages are reused
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build gw-run: %v\n%s", err, output)
	}
	return program
}

// jumped reports whether the times of lines that were logged within minutes are more than an hour apart.
func jumped(logs string) bool {
	var first, last time.Time
	for line := range strings.Lines(logs) {
		stamp, _, _ := strings.Cut(line, " ")
		at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(stamp, "time="))
		if err != nil {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return last.Sub(first) > time.Hour
}

// times returns the numbers that programs have written to a file beside the notes, one per line; 0 for a line without a number.
func (f *fleet) times(of string) (times []int64) {
	f.t.Helper()
	content, err := os.ReadFile(f.folder + "/notes." + of)
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		times = append(times, n)
	}
	return times
}
