package adversary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// runner is one of the workers. It ends with its context; an earlier end is an error.
type runner func(ctx context.Context) error

type payload struct{ N int64 }

// shimWorker is a worker of pkg/shim with the role of the owner.
func (tr *trial) shimWorker(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(tr.as("owner"))
	if err != nil {
		return fmt.Errorf("read the database's URL: %w", err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "shim worker"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open a pool: %w", err)
	}
	defer pool.Close()
	w, err := shim.New(pool, shim.Config{Concurrency: 4, QuietSuccess: true,
		Logger: slog.New(slog.NewTextHandler(&tr.log, nil))})
	if err != nil {
		return err
	}
	w.Handle("honest-shim", func(_ context.Context, job *shim.Job) error {
		var p payload
		if err := json.Unmarshal(job.Payload, &p); err != nil {
			return err
		}
		tr.started(p.N)
		return nil
	})
	w.Handle("hostile-shim", func(context.Context, *shim.Job) error { return nil })
	over := context.AfterFunc(ctx, func() { _ = w.Stop(context.Background()) })
	defer over()
	return w.Run(context.Background())
}

// gwRun is gw-run with executables.
type gwRun struct {
	command *exec.Cmd
	notes   string // the file in which its honest jobs note that they have started
	log     *transcript
}

// noting is an honest task. The payload is {"n": 7}.
const noting = `#!/bin/sh
read -r input
n=${input#*'"n"'} n=${n#*:} n=${n# } n=${n%%[!0-9]*}
echo "$n" >>"$NOTES"
`

func newGwRun(t testing.TB, folder, url string, args ...string) (*gwRun, error) {
	tasks, notes := filepath.Join(folder, "tasks"), filepath.Join(folder, "notes")
	if err := os.MkdirAll(tasks, 0o755); err != nil {
		return nil, err
	}
	for task, script := range map[string]string{"honest-run": noting, "hostile-run": "#!/bin/sh\nexit 0\n"} {
		if err := os.WriteFile(filepath.Join(tasks, task), []byte(script), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(notes, nil, 0o644); err != nil {
		return nil, err
	}
	g := &gwRun{command: exec.Command(pgtest.Program(t, "gw-run"), append(args, "-c", url, "--tasks", tasks, "-j",
		"2")...), notes: notes, log: &transcript{}}
	g.command.Env = append(os.Environ(), "NOTES="+notes, "PGAPPNAME=gw-run worker")
	g.command.Stdout, g.command.Stderr = g.log, g.log
	return g, nil
}

// run runs gw-run until the context ends, and passes on the starts that its jobs record.
func (g *gwRun) run(ctx context.Context, started func(n int64)) error {
	if err := g.command.Start(); err != nil {
		return fmt.Errorf("start gw-run: %w", err)
	}
	over := context.AfterFunc(ctx, func() { _ = g.command.Process.Signal(syscall.SIGTERM) })
	defer over()
	reading, stop := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	readers.Go(func() { g.follow(reading, started) })
	err := g.command.Wait()
	stop()
	readers.Wait()
	if err != nil {
		return fmt.Errorf("gw-run: %w\n%s", err, g.log)
	}
	return nil
}

// follow reads the notes as they are written.
func (g *gwRun) follow(ctx context.Context, started func(n int64)) {
	file, err := os.Open(g.notes)
	if err != nil {
		return // every job is late then
	}
	defer file.Close()
	var rest []byte
	for {
		over := ctx.Err() != nil
		more, _ := io.ReadAll(file)
		for rest = append(rest, more...); bytes.ContainsRune(rest, '\n'); {
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			rest = after
			if n, err := strconv.ParseInt(string(line), 10, 64); err == nil {
				started(n)
			}
		}
		if over {
			return
		}
		sleep(ctx, 5*time.Millisecond)
	}
}

// sqlWorker is a worker that makes two SQL calls, as psql could.
func (tr *trial) sqlWorker(ctx context.Context) error {
	conn, err := pgx.Connect(context.Background(), tr.as("owner"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	const id = "sql worker"
	for ctx.Err() == nil {
		found, err := tr.workOne(conn, id)
		if err != nil {
			return err
		}
		if !found {
			sleep(ctx, 20*time.Millisecond)
		}
	}
	return nil
}

func (tr *trial) workOne(conn *pgx.Conn, id string) (found bool, err error) {
	rows, _ := conn.Query(context.Background(), `
		select g.id, g.task_identifier, g.payload::text, g.lease from graphile_worker.get_job($1, $2) as g`,
		id, []string{"honest-sql", "hostile-sql"}) // the error comes again
	var (
		job           struct{ id, lease int64 }
		task, content string
	)
	_, err = pgx.ForEachRow(rows, []any{&job.id, &task, &content, &job.lease},
		func() error { found = true; return nil })
	if err != nil || !found {
		return false, err
	}
	if task == "honest-sql" {
		var p payload
		if err := json.Unmarshal([]byte(content), &p); err != nil {
			return false, err
		}
		tr.started(p.N)
	}
	_, err = conn.Exec(context.Background(), `select graphile_worker.complete_job($1, $2, $3)`, id, job.id, job.lease)
	return true, err
}

// started records that an honest job has started.
func (tr *trial) started(n int64) {
	if err := tr.honest.start(n); err != nil {
		tr.violate(honestJobsRunOnce, "%v", err)
	}
}

// transcript keeps the end of an output.
type transcript struct {
	mu      sync.Mutex
	content []byte
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = 8 << 10
	s.content = append(s.content, p...)
	s.content = s.content[max(0, len(s.content)-most):]
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.content)
}
