package recovery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// workerVariable is an environment variable with which the test's binary acts as a worker. Its value is the URL of the database.
const (
	workerVariable = "GW_TEST_RECOVERY_WORKER"
	idVariable     = "GW_TEST_RECOVERY_ID"
	folderVariable = "GW_TEST_RECOVERY_FOLDER"
)

// runAsWorker runs a worker until it is stopped, if workerVariable is set.
func runAsWorker() (ran bool) {
	url := os.Getenv(workerVariable)
	if url == "" {
		return false
	}
	if err := runWorker(url, os.Getenv(idVariable), os.Getenv(folderVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func runWorker(url, id, folder string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1) // the test's process has ended
	}()
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		return err
	}
	defer pool.Close()
	w, err := shim.New(pool, shim.Config{
		WorkerID: id, Concurrency: 8, PollInterval: 200 * time.Millisecond, HandleSignals: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	// Notes are written to a file, which does not depend on the database. Lines are short, so that each one is a single write.
	note := func(format string, args ...any) {
		file, err := os.OpenFile(folder+"/notes", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, _ = fmt.Fprintf(file, format+"\n", args...)
			_ = file.Close()
		}
	}
	w.Handle("good", func(_ context.Context, job *shim.Job) error {
		time.Sleep(5 * time.Millisecond)
		note("done %d", job.ID)
		return nil
	})
	type order struct {
		N    int
		Kill bool
	}
	write := func(ctx context.Context, tx pgx.Tx, o order) error {
		if _, err := tx.Exec(ctx, `insert into effects (n) values ($1)`, o.N); err != nil || !o.Kill {
			return err
		}
		note("killed %s", id)
		return pgtest.Kill(os.Getpid(), syscall.SIGKILL)
	}
	shim.HandleTx(w, "write", func(ctx context.Context, tx pgx.Tx, o order, _ *shim.Job) error {
		return write(ctx, tx,
			o)
	})
	shim.HandleManyTx(w, "write many", 10, func(ctx context.Context, tx pgx.Tx, orders []order, _ []*shim.Job) error {
		for _, o := range orders {
			if err := write(ctx, tx, o); err != nil {
				return err
			}
		}
		return nil
	})
	w.Handle("poison", func(context.Context, *shim.Job) error {
		note("killed %s", id)
		return pgtest.Kill(os.Getpid(), syscall.SIGKILL)
	})
	w.Handle("steps", func(ctx context.Context, job *shim.Job) error {
		for _, name := range []string{"one", "two", "three", "four"} {
			_, err := shim.Step(ctx, job, name, func(context.Context) (string, error) {
				note("step %s %s", name, id)
				return name, nil
			})
			if err != nil {
				return err
			}
			if name == "two" && job.Attempts == 1 {
				return pgtest.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		note("done %d %s", job.ID, id)
		return nil
	})
	w.Handle("gated", func(ctx context.Context, job *shim.Job) error {
		note("started %d %s", job.ID, id)
		for {
			select {
			case <-ctx.Done():
				note("cut %d %s: %v", job.ID, id, context.Cause(ctx))
				return context.Cause(ctx)
			case <-time.After(10 * time.Millisecond):
				if _, err := os.Stat(folder + "/open"); err == nil {
					note("done %d %s", job.ID, id)
					return nil
				}
			}
		}
	})
	return w.Run(context.Background())
}

// worker is a worker in a process of its own.
type worker struct {
	t   *testing.T
	cmd *exec.Cmd
	end chan struct{}
}

// start starts a worker.
func (f *fleet) start(id string) *worker {
	f.t.Helper()
	w, err := f.launch(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

func (f *fleet) launch(id string) (*worker, error) {
	w := &worker{t: f.t, cmd: exec.Command(os.Args[0]), end: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), workerVariable+"="+f.url, idVariable+"="+id, folderVariable+"="+f.folder)
	w.cmd.Stderr = f.t.Output()
	if _, err := w.cmd.StdinPipe(); err != nil { // ends with this process
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.end)
		_ = w.cmd.Wait()
	}()
	f.t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.end
	})
	return w, nil
}

// supervise starts a new worker whenever one ends, until the test ends.
func (f *fleet) supervise(name string) {
	f.t.Helper()
	w := f.start(name + "-0")
	over := make(chan struct{})
	f.t.Cleanup(func() { <-over })
	go func() {
		defer close(over)
		for n := 1; ; n++ {
			select {
			case <-f.t.Context().Done():
				return
			case <-w.end:
				if f.t.Context().Err() != nil { // the end of the test has ended the worker
					return
				}
				var err error
				if w, err = f.launch(fmt.Sprintf("%s-%d", name, n)); err != nil {
					f.t.Error(err)
					return
				}
			}
		}
	}()
}

func (w *worker) signal(signal syscall.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(signal); err != nil {
		w.t.Fatal(err)
	}
}

// notes returns the notes of the workers with this beginning.
func (f *fleet) notes(beginning string) (found []string) {
	f.t.Helper()
	content, err := os.ReadFile(f.folder + "/notes")
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, beginning) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// awaitNotes waits until the workers have written n notes with this beginning.
func (f *fleet) awaitNotes(n int, beginning string) {
	f.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); len(f.notes(beginning)) < n; <-again.C {
		if time.Now().After(deadline) {
			f.t.Fatalf("there are not %d notes %q:\n%s", n, beginning, strings.Join(f.notes(""), "\n"))
		}
	}
}

// open lets the gated jobs end.
func (f *fleet) open() {
	f.t.Helper()
	if err := os.WriteFile(f.folder+"/open", nil, 0o644); err != nil {
		f.t.Fatal(err)
	}
}
