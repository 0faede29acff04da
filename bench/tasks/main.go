// Command tasks measures how many jobs gw-run runs per second of its own processor time, for each kind of task.
// ../README.md describes what is measured and how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// bench is the environment of a scenario.
type bench struct {
	*harness.Bench
	programs string // a folder with gw-run and the programs that serve its tasks
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	programs, err := build(ctx)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer func() {
		if err := os.RemoveAll(programs); err != nil {
			fmt.Fprintln(stderr, err)
			code = 1
		}
	}()
	return harness.Program[*bench]{
		Name:  "tasks",
		Title: "Kinds of tasks",
		Scenarios: []harness.Scenario[*bench]{
			{Name: "kinds", Title: "Jobs by what serves them", Run: kindsScenario},
			{Name: "sql", Title: "Functions of SQL for one job and for many", Run: functionsScenario},
		},
		Open: func(ctx context.Context, h *harness.Bench) (*bench, error) {
			return &bench{h, programs}, queue.Install(ctx, h.Server)
		},
	}.Run(ctx, args, stdout, stderr)
}

// build builds gw-run and the programs that serve its tasks in a new folder.
func build(ctx context.Context) (dir string, err error) {
	dir, err = os.MkdirTemp("", "gw-bench-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the programs: %w", err)
	}
	// gw-run needs modules that only its own go.mod requires.
	root, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "github.com/gwsql/gw")
	if err == nil {
		_, err = goCommand(ctx, "-C", strings.TrimSpace(root), "build", "-o", dir, "./cmd/gw-run")
	}
	if err == nil {
		_, err = goCommand(ctx, "build", "-o", dir, "github.com/gwsql/gw/bench/tasks/cmd/...")
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func goCommand(ctx context.Context, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return string(output), nil
}
