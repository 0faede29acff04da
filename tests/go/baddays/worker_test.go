package baddays

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// workerVariable is an environment variable with which the test's binary acts as a worker. Its value is the URL of the database.
const (
	workerVariable = "GW_TEST_BADDAYS_WORKER"
	idVariable     = "GW_TEST_BADDAYS_ID"
	folderVariable = "GW_TEST_BADDAYS_FOLDER"
)

// payload is the payload of the task "work".
type payload struct {
	N            int // the number of the job in its load
	Milliseconds int // how long it runs
	Fails        int // how many times it fails first

	// Cron is the run of a recurring job. Each run counts as a job of its own.
	Cron *struct {
		At time.Time `json:"ts"`
	} `json:"_cron,omitempty"`
}

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
		WorkerID: id, Concurrency: 8, HandleSignals: true, QuietSuccess: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	// Notes are written to a file, which does not depend on the database. Lines are short, so that each one is a single write.
	notes, err := os.OpenFile(folder+"/notes", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	note := func(what string, n int, job *shim.Job) {
		_, _ = fmt.Fprintf(notes, "%s,%d,%s,%s,%s\n", what, n, job.QueueName, job.Key, id)
	}
	w.Handle("work", func(ctx context.Context, job *shim.Job) error {
		var p payload
		if err := json.Unmarshal(job.Payload, &p); err != nil {
			return err
		}
		if p.Cron != nil {
			p.N += int(p.Cron.At.Unix() / 60)
		}
		note("start", p.N, job)
		select {
		case <-ctx.Done():
			note("cut", p.N, job)
			return context.Cause(ctx)
		case <-time.After(time.Duration(p.Milliseconds) * time.Millisecond):
		}
		if job.Attempts <= p.Fails {
			note("fail", p.N, job)
			err := errors.New("as it was told to")
			if job.Attempts > 1 {
				return shim.RetryIn(100*time.Millisecond, err)
			}
			return err
		}
		note("end", p.N, job)
		return nil
	})
	return w.Run(context.Background())
}

// worker is a worker in a process of its own.
type worker struct {
	t    *testing.T
	id   string
	cmd  *exec.Cmd
	logs *transcript
	end  chan struct{}
}

// start starts a worker on the fleet's database, with this URL.
func (f *fleet) start(id, url string) *worker {
	f.t.Helper()
	w := &worker{t: f.t, id: id, cmd: exec.Command(os.Args[0]), logs: &transcript{}, end: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), workerVariable+"="+url, idVariable+"="+id, folderVariable+"="+f.folder)
	w.run()
	return w
}

// run starts the process, which ends with the test.
func (w *worker) run() {
	w.t.Helper()
	w.cmd.Stderr = w.logs
	if _, err := w.cmd.StdinPipe(); err != nil { // ends with this process
		w.t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(w.end)
		_ = w.cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.end
		if w.t.Failed() {
			w.t.Logf("%s:\n%s", w.id, w.logs.String())
		}
	})
}

func (w *worker) hasEnded() bool {
	select {
	case <-w.end:
		return true
	default:
		return false
	}
}

func (w *worker) signal(signal syscall.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(signal); err != nil {
		w.t.Fatal(err)
	}
}

// transcript keeps the output of a process.
type transcript struct {
	mu      sync.Mutex
	content []byte
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = append(s.content, p...)
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.content)
}
