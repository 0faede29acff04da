package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// races matches the packages whose tests run with the race detector: those that contain the worker's goroutines. Tests of other
// packages that start workers in their own process run with it in make soak. Only with -race, because compiling with the detector
// takes as long as a third of the tests.
var races = regexp.MustCompile(`/(cmd/gw-run|internal/(health|serve|stop|task)|pkg/(shim|shimtest))$`)

// stress matches the packages that let workers and callers run against each other, or take their server, their network or their
// processes away, for as long as it takes to find something. make test-stress runs them, and those of the benchmarks.
var stress = regexp.MustCompile(`/tests/go(/(adversary|baddays|beside|fuzz|history|interleave|limits|recovery))?$`)

// Packages whose tests depend on the server's version: its plans, its locks, its roles, its catalogs, and what each SQL function
// returns. Workers see a server through these functions alone. With -short each runs where its tests are most likely to fail: on
// old servers those of commands and migrations, which have to do without what such a server lacks; on new servers those of
// roles. What happens to a locked row that has changed differs between both; .ci/run runs the packages of stress on the newest server.
var (
	versionedOfOld = regexp.MustCompile(`/(cmd/gw-migrate|pkg/migrate|tests/go/(adopt|doctor|interleave))$`)
	versionedOfNew = regexp.MustCompile(`/tests/go/grants$`)
)

// firstNew is the first version that counts as new.
const firstNew = 15

// longest matches the packages that take longest. They start first, so that none of them runs alone at the end.
var longest = regexp.MustCompile(`/(docs|pkg/(migrate|shim)|tests/go(/(adopt|adversary|baddays|grants|gwrun|interleave|limits|operate))?)$`)

const (
	timeout    = "20m"            // of the tests of a package
	afterwards = 10 * time.Second // the wait for processes that a command leaves behind and that hold its output open
)

// What to run.
type selection struct {
	stress bool // the tests that stress matches and those of the benchmarks, in place of the others
	race   bool // the packages that races matches with the race detector
	short  int  // the version of PostgreSQL of which only the tests that depend on it run; 0: all
}

// A phase is a command that runs tests.
type phase struct {
	name    string
	dir     string
	env     []string
	command []string
	read    func(output io.Reader, print func(text string)) tally
}

// phases returns the phases, which run concurrently.
func phases(s selection, packages []string) []phase {
	all := []phase{{name: "pgTAP", command: []string{"scripts/with-database.sh", "scripts/pgtap.sh"}, read: readTAP}}
	slices.SortStableFunc(packages, func(a, b string) int {
		switch {
		case longest.MatchString(a) == longest.MatchString(b):
			return 0
		case longest.MatchString(a):
			return -1
		}
		return 1
	})
	if s.short != 0 {
		versioned := versionedOfOld
		if s.short >= firstNew {
			versioned = versionedOfNew
		}
		packages = slices.DeleteFunc(packages, func(p string) bool { return !versioned.MatchString(p) })
		return append(all, goTest("go", "", nil, append([]string{"-short", "-p=2"}, packages...)))
	}
	var raced, plain, stressed []string
	for _, p := range packages {
		switch {
		case s.race && races.MatchString(p):
			raced = append(raced, p)
		case stress.MatchString(p):
			stressed = append(stressed, p)
		default:
			plain = append(plain, p)
		}
	}
	if s.stress {
		return []phase{
			goTest("go", "", nil, append([]string{"-p=3"}, stressed...)),
			goTest("bench", "bench", nil, []string{"-p=1", "./..."}),
		}
	}
	if s.race {
		all = append(all, goTest("go -race", "", []string{"CGO_ENABLED=1"},
			append([]string{"-race", "-p=2"}, raced...)))
	}
	return append(all, goTest("go", "", nil, append([]string{"-p=4"}, plain...)))
}

// compilation is the environment in which programs and tests are compiled: without cgo, so that packages are compiled only once,
// and with a garbage collector that lets the compiler take more memory and a fifth less CPU time.
var compilation = []string{"CGO_ENABLED=0", "GOGC=400"}

// goTest returns a phase of go test. It runs without vet, which make lint runs, and without the data for debuggers, which is most of
// the time of a link. Tests, and the programs that they start, run without the GOGC of the compilation.
func goTest(name, dir string, env, args []string) phase {
	return phase{
		name: name, dir: dir, env: append(compilation[:len(compilation):len(compilation)], env...),
		command: append([]string{"go", "test", "-json", "-count=1", "-vet=off", "-ldflags=-w", "-exec=env -u GOGC",
			"-timeout=" + timeout}, args...),
		read: readGo,
	}
}

// run runs a phase and prints its failures as soon as they are known.
func (p phase) run(ctx context.Context, env []string, print func(text string)) tally {
	began := time.Now()
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = afterwards
	cmd.Dir, cmd.Env = p.dir, append(env[:len(env):len(env)], p.env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	output, input := io.Pipe()
	cmd.Stdout = input
	read := make(chan tally, 1)
	go func() { read <- p.read(output, print) }()
	err := cmd.Run()
	_ = input.Close()
	t := <-read
	t.phase, t.took = p.name, time.Since(began)
	if end := cmd.ProcessState; end != nil { // it has started
		t.cpu = end.UserTime() + end.SystemTime()
	}
	if err != nil && len(t.failed) == 0 {
		t.failed = []string{strings.Join(p.command[:min(3, len(p.command))], " ")}
	}
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		said.WriteString(err.Error() + "\n")
	}
	if err != nil && ctx.Err() == nil {
		print(said.String())
	}
	return t
}
