// Command runtests runs all tests on the server of GW_TEST_DATABASE_URL:
//
//	go run ./tests/go/testserver -- go run ./scripts/runtests
//
// It builds gw-run and gw-migrate once for all tests, and runs the phases of phases.go concurrently. It prints failures as soon
// as they are known, a line for each phase, and a line with all counts at the end. A failed phase does not stop the others.
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
	short := flag.Int("short", 0, "run only tests that depend on the server's version, which is this `major`")
	flag.Parse()
	if flag.NArg() > 0 || os.Getenv(serverVariable) == "" {
		fmt.Fprintln(os.Stderr, "usage, in the folder of go.mod: go run ./tests/go/testserver -- go run ./scripts/runtests [-short=MAJOR]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, err := run(ctx, *short, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

func run(ctx context.Context, short int, out io.Writer) (passed bool, err error) {
	fmt.Fprintln(out, estimate(short))
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
	for _, p := range phases(short, strings.Fields(string(packages))) {
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
func estimate(short int) string {
	if short != 0 {
		return "The tests that depend on the version of the server: about three minutes on two idle cores."
	}
	return "All tests: about ten minutes on two idle cores, twelve if nothing is compiled yet."
}

// buildPrograms builds gw-run and gw-migrate in a new folder, as internal/pgtest does for the tests of one package.
func buildPrograms(ctx context.Context) (dir string, err error) {
	dir, err = os.MkdirTemp("", "gw-programs-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the programs: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), "./cmd/gw-run", "./cmd/gw-migrate")
	build.Env = append(os.Environ(), compilation...)
	if output, err := build.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return dir, nil
}
