// Command runtests runs the tests on the server of GW_TEST_DATABASE_URL:
//
//	go run ./tests/go/testserver -- go run ./scripts/runtests
//
// It builds gw-run and gw-migrate once for all tests, and runs the phases of phases.go concurrently. It prints failures as soon
// as they are known, a line for each phase, and a line with all counts at the end. A failed phase does not stop the others.
//
// It leaves out the tests that run for long to find what goes wrong under stress, such as crashes, and those of the benchmarks; with
// -stress it runs these. With -race it runs the tests of the worker with the race detector.
//
// With -short=MAJOR it runs only the tests that depend on the server's version: pgTAP, and of the packages that phases.go has for this
// version those tests that do not call pgtest.OnOneVersion. make test-matrix runs all tests on each version.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	serverVariable   = "GW_TEST_DATABASE_URL" // read by internal/pgtest and scripts/with-database.sh
	programsVariable = "GW_TEST_PROGRAMS"     // read by the same
)

func main() {
	var s selection
	flag.BoolVar(&s.stress, "stress", false, "run the tests that make test leaves out")
	flag.BoolVar(&s.race, "race", false, "run the tests of the worker with the race detector, which needs a C compiler")
	flag.IntVar(&s.short, "short", 0, "run only tests that depend on the server's version, which is this `major`")
	flag.Parse()
	if flag.NArg() > 0 || os.Getenv(serverVariable) == "" {
		fmt.Fprintln(os.Stderr, "usage, in the folder of go.mod: go run ./tests/go/testserver -- go run ./scripts/runtests [-stress] [-race] [-short=MAJOR]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, err := run(ctx, s, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

func run(ctx context.Context, s selection, out io.Writer) (passed bool, err error) {
	fmt.Fprintln(out, s.estimate())
	began := time.Now()
	programs, err := buildPrograms(ctx)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(programs)
	packages, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return false, fmt.Errorf("list the packages: %w", err)
	}
	fmt.Fprintf(out, "%-10s built in %s\n", "programs", seconds(time.Since(began)))
	environment := append(os.Environ(), programsVariable+"="+programs)

	r := report{out: out}
	var beside sync.WaitGroup
	for _, p := range phases(s, strings.Fields(string(packages))) {
		beside.Go(func() { r.add(p.run(ctx, environment, r.print)) })
	}
	beside.Wait()
	if ctx.Err() != nil {
		fmt.Fprintln(out, "interrupted")
		return false, nil
	}
	return r.finish(time.Since(began)), nil
}

// estimate returns how long the tests take, in words.
func (s selection) estimate() string {
	switch {
	case s.short != 0:
		return "The tests that depend on the version of the server: about three minutes on two idle cores."
	case s.stress:
		return "The tests under stress: about three minutes on two idle cores."
	}
	return "All tests but those of make test-stress: about five minutes on two idle cores."
}

// buildPrograms builds gw-run and gw-migrate in a new folder, as internal/pgtest does for the tests of one package.
func buildPrograms(ctx context.Context) (dir string, err error) {
	dir, err = os.MkdirTemp("", "gw-programs-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the programs: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), "./cmd/gw-run",
		"./cmd/gw-migrate")
	build.Env = append(os.Environ(), compilation...)
	if output, err := build.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return dir, nil
}
