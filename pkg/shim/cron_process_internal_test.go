package shim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/crontab"
)

// cronProcessVariable makes the test's program a worker instead, as [cronProcess] starts it: its value is the URL of
// the database.
const cronProcessVariable = "GW_TEST_CRON_WORKER"

// RunAsCronProcess runs a worker if that is what this program was started for.
func RunAsCronProcess() (ran bool) {
	url := os.Getenv(cronProcessVariable)
	if url == "" {
		return false
	}
	if err := runCronProcess(url, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// runCronProcess runs a worker that reads the time from lines of its input, and prints a line when its cron has done
// all ticks up to that time.
func runCronProcess(url string, in io.Reader, out io.Writer) error {
	times := json.NewDecoder(in)
	var text string
	if err := times.Decode(&text); err != nil {
		return fmt.Errorf("read crontab: %w", err)
	}
	var at time.Time
	if err := times.Decode(&at); err != nil {
		return fmt.Errorf("read time: %w", err)
	}
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		return err
	}
	w, err := New(pool, Config{Cron: []crontab.Source{crontab.Text(text)}, PollInterval: time.Hour, PollOnly: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	w.Handle("unused", func(context.Context, *Job) error { return nil })
	var mu sync.Mutex
	w.cronClock = cronClock{
		now: func() *time.Time {
			mu.Lock()
			defer mu.Unlock()
			return new(at)
		},
		after: func(time.Duration) <-chan time.Time {
			fmt.Fprintln(out, "done")
			told := make(chan time.Time, 1)
			go func() {
				var next time.Time
				if err := times.Decode(&next); err != nil {
					os.Exit(0) // the test has ended
				}
				mu.Lock()
				defer mu.Unlock()
				at = next
				told <- next
			}()
			return told
		},
	}
	return w.Run(context.Background())
}

// cronProcess is a worker in a process of its own, whose time a test sets.
type cronProcess struct {
	t       *testing.T
	url     string
	crontab string
	cmd     *exec.Cmd
	in      *json.Encoder
	out     *bufio.Scanner
}

// start starts the worker at a time.
func (p *cronProcess) start(at time.Time) {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), cronProcessVariable+"="+p.url)
	p.cmd.Stderr = os.Stderr
	in, inErr := p.cmd.StdinPipe()
	out, outErr := p.cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		p.t.Fatal(inErr, outErr)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd := p.cmd
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	p.in, p.out = json.NewEncoder(in), bufio.NewScanner(out)
	if err := p.in.Encode(p.crontab); err != nil {
		p.t.Fatal(err)
	}
	p.tell(at)
}

// tell sets the time of the worker.
func (p *cronProcess) tell(at time.Time) {
	p.t.Helper()
	if err := p.in.Encode(at); err != nil {
		p.t.Fatal(err)
	}
}

// await waits until the worker has done all ticks.
func (p *cronProcess) await() {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatal("the worker has ended")
	}
}

// kill ends the worker by SIGKILL.
func (p *cronProcess) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
}
