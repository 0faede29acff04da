package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// workerVariable is the environment variable with the database of a process that is a worker of the load.
const workerVariable = "GW_TEST_ENGINE_WORKER"

// workAlone is a worker of the load in a process of its own. It ends its jobs when its standard input ends, and writes
// when jobs of the rate have started, and findings.
func workAlone(database string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	name, raw := os.Args[1], os.Args[2] == "true"
	seed, err := strconv.ParseUint(os.Args[3], 10, 64)
	if err != nil {
		return err
	}
	l := &load{play: &play{conn: conn}, raw: raw, runs: map[int64]string{}, queues: map[string]int64{}}
	calm := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(calm)
		cancelWhenDrained(ctx, database, cancel)
	}()
	if err := l.work(context.Background(), ctx, calm, name, rand.New(rand.NewPCG(seed, 100))); err != nil {
		l.find("%v", err)
	}
	for _, at := range l.started {
		fmt.Println("started", at.UnixMicro())
	}
	fmt.Println("ended", l.ended)
	for _, finding := range l.findings {
		fmt.Println("found", strings.ReplaceAll(finding, "\n", " "))
	}
	return nil
}

// cancelWhenDrained wakes a worker that waits for notifications when no jobs are left.
func cancelWhenDrained(ctx context.Context, database string, cancel context.CancelFunc) {
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	for ctx.Err() == nil {
		var left bool
		if err := conn.QueryRow(ctx, schema(jobsAreLeft)).Scan(&left); err != nil || !left {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// process is a worker in a process of its own, which is stopped now and then, wherever it is.
type process struct {
	cmd   *osexec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

func (l *load) startProcess(name string, seed uint64) (*process, error) {
	cmd := osexec.Command(os.Args[0], name, strconv.FormatBool(l.raw), strconv.FormatUint(seed, 10))
	cmd.Env = append(os.Environ(), workerVariable+"="+l.conn.Config().ConnString())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd: cmd, stdin: stdin, out: bufio.NewScanner(stdout)}, cmd.Start()
}

// stopSometimes stops the process, and lets it go on, until the context ends.
func (p *process) stopSometimes(ctx context.Context, r *rand.Rand) error {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		if err := p.cmd.Process.Signal(pgtest.Stop); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		if err := p.cmd.Process.Signal(pgtest.Continue); err != nil {
			return err
		}
	}
	return nil
}

// end lets the process end its jobs, and takes over what it has seen.
func (p *process) end(l *load) error {
	if err := p.stdin.Close(); err != nil {
		return err
	}
	for p.out.Scan() {
		what, rest, _ := strings.Cut(p.out.Text(), " ")
		number, _ := strconv.ParseInt(rest, 10, 64)
		switch what {
		case "started":
			l.mu.Lock()
			l.started = append(l.started, time.UnixMicro(number))
			l.mu.Unlock()
		case "ended":
			l.mu.Lock()
			l.ended += int(number)
			l.mu.Unlock()
			l.t.Logf("the process that was stopped now and then ended %d jobs", number)
		default:
			l.find("%s", p.out.Text())
		}
	}
	return p.cmd.Wait()
}
