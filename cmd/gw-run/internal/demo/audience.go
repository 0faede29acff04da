package demo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gwsql/gw/examples"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

const demoKeyPrefix = "gw_demo:" // prefix of the keys of the demo's own jobs

// demoAudience prints a line for each job that has run.
type demoAudience struct {
	out  io.Writer
	seen chan error // the results of the first attempts of the demo's own jobs

	printing sync.Mutex
}

// watch returns a handler that calls another one and prints its result.
func (a *demoAudience) watch(handler shim.Handler) shim.Handler {
	return func(ctx context.Context, job *shim.Job) error {
		err := handler(ctx, job)
		a.see(job, err)
		return err
	}
}

func (a *demoAudience) see(job *shim.Job, err error) {
	ending := ""
	if err != nil {
		ending = "  failed: " + err.Error()
	}
	a.printing.Lock()
	fmt.Fprintf(a.out, "  %-8s job %-6d %6.1f ms%s\n", job.TaskIdentifier, job.ID, latency(job).Seconds()*1000, ending)
	a.printing.Unlock()
	if strings.HasPrefix(job.Key, demoKeyPrefix) {
		select {
		case a.seen <- err:
		default: // nothing waits for it any more
		}
	}
}

// latency returns the time from when a job was added, or due if that was later, until it was claimed, by the database's clock.
func latency(job *shim.Job) time.Duration {
	since := job.CreatedAt
	if job.RunAt.After(since) {
		since = job.RunAt
	}
	return time.UnixMicro(job.Lease).Sub(since)
}

// wait waits until the next of the demo's own jobs has run. It returns an error if the job failed or ctx ended first.
func (a *demoAudience) wait(ctx context.Context) error {
	select {
	case err := <-a.seen:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handleDemoTasks unpacks the example tasks into dir and registers them with the worker; the audience prints their results.
func handleDemoTasks(worker *shim.Worker, dir string, audience *demoAudience) error {
	err := fs.WalkDir(examples.Tasks, "tasks", func(path string, entry fs.DirEntry, err error) error {
		target := filepath.Join(dir, filepath.FromSlash(path))
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Mkdir(target, 0o700)
		}
		content, err := examples.Tasks.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o700)
	})
	if err != nil {
		return fmt.Errorf("unpack the demo's tasks: %w", err)
	}
	found, err := task.Discover(filepath.Join(dir, "tasks"))
	if err != nil {
		return err
	}
	for identifier, path := range found.Tasks {
		worker.Handle(identifier, audience.watch(task.Executable{Path: path}.Run))
	}
	return nil
}
