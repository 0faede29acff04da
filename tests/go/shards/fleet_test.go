package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shard"
	"github.com/gwsql/gw/pkg/shard/mapfile"
	"github.com/gwsql/gw/pkg/shim"
)

// fleet is four shards on two servers: a and b on the first, c and d on the second.
type fleet struct {
	t       *testing.T
	servers [2]*pgtemp.Server
	mapPath string
	of      shard.Map
	pools   map[string]*pgxpool.Pool
	folder  string
	notes   string
	killed  map[int]bool // workers by process id
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	folder := t.TempDir()
	f := &fleet{
		t: t, folder: folder, notes: filepath.Join(folder, "notes"), mapPath: filepath.Join(folder, "map.yaml"),
		pools: make(map[string]*pgxpool.Pool), killed: make(map[int]bool),
	}
	text := "shards:\n"
	for i := range f.servers {
		f.servers[i] = pgtest.Server(t, map[string]string{"max_connections": "300", "synchronous_commit": "on"})
		admin := pgtest.Pool(t, f.servers[i].URL("postgres"))
		for j := range 2 {
			n := 2*i + j
			name := string(rune('a' + n))
			pgtest.Exec(t, admin, "create database "+name)
			text += fmt.Sprintf("  %s: {connection: %q, slots: %d-%d}\n", name, f.servers[i].URL(name), 64*n, 64*n+63)
		}
		admin.Close()
	}
	f.write(f.mapPath, text)
	f.write(filepath.Join(folder, "gw.yaml"), fmt.Sprintf("poll_interval: 200ms\ntasks:\n  work: {persistent: %q, env: {%s: %q}, children: 6}\n",
		os.Args[0], notesVariable, f.notes))
	var err error
	if f.of, err = mapfile.Load(f.mapPath); err != nil {
		t.Fatal(err)
	}
	f.run("gw-migrate", "up", "--shards", f.mapPath)
	for _, s := range f.of.Shards {
		f.pools[s.Name] = pgtest.Pool(t, s.Connection)
		// Dead workers are detected soon, but not so soon that a worker that reconnects to a killed server counts as dead.
		pgtest.Exec(t, f.pools[s.Name], "select graphile_worker.set_setting('beat_every', '1 second'), graphile_worker.set_setting('dead_after', '15 seconds')")
	}
	return f
}

func (f *fleet) write(path, text string) {
	f.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// run runs a program to its end, and returns what it prints.
func (f *fleet) run(program string, args ...string) string {
	f.t.Helper()
	output, err := exec.CommandContext(f.t.Context(), pgtest.Program(f.t, program), args...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %v: %v\n%s", program, args, err, output)
	}
	return string(output)
}

// worker is a gw-run.
type worker struct {
	cmd  *exec.Cmd
	logs bytes.Buffer // to be read after done
	done chan struct{}
}

// work starts a gw-run, which ends with the test at the latest.
func (f *fleet) work(args ...string) *worker {
	f.t.Helper()
	args = append([]string{"--shards", f.mapPath, "--config", filepath.Join(f.folder, "gw.yaml"), "--jobs", "6", "--quiet", "--grace", "2s",
		"--max-pool-size", "4"}, args...)
	w := &worker{cmd: exec.Command(pgtest.Program(f.t, "gw-run"), args...), done: make(chan struct{})}
	w.cmd.Dir = f.folder
	w.cmd.Stderr = &w.logs
	if err := w.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(w.done)
		_ = w.cmd.Wait()
	}()
	f.t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.done
		if f.t.Failed() {
			logs := w.logs.String()
			f.t.Logf("worker %d:\n%s", w.cmd.Process.Pid, logs[max(0, len(logs)-3000):])
		}
	})
	return w
}

func (f *fleet) kill(w *worker) {
	f.t.Helper()
	f.killed[w.cmd.Process.Pid] = true
	_ = w.cmd.Process.Kill()
	<-w.done
}

// producers are clients that begin with the map of the file.
type producers struct {
	mu    sync.Mutex
	acked []int
	added atomic.Int64
	ended atomic.Bool
	wg    sync.WaitGroup
}

// produce starts n producers, each of which adds jobs in queues of its own, in jobs of a key, and loose ones, one after the
// other, until end.
func (f *fleet) produce(n int) *producers {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &producers{}
	f.t.Cleanup(func() { cancel(); p.wg.Wait() })
	for i := range n {
		client, err := shim.NewShards(f.of, shim.ClientConfig{})
		if err != nil {
			f.t.Fatal(err)
		}
		p.wg.Go(func() {
			defer client.Close()
			for k := 1; ctx.Err() == nil && !p.ended.Load(); k++ {
				number := k*n + i
				opts, job := &shim.AddOptions{}, payload{N: number, Milliseconds: number % 4}
				switch k % 3 {
				case 0:
					opts.QueueName = fmt.Sprintf("q%d-%d", i, k%8)
					job.Queue = opts.QueueName
				case 1:
					opts.JobKey = fmt.Sprint("key-", number)
					opts.ShardKey = fmt.Sprint("tenant-", number%50)
				}
				one, cancelOne := context.WithTimeout(ctx, 20*time.Second)
				_, err := client.Add(one, "work", job, opts)
				cancelOne()
				if err == nil {
					p.added.Add(1)
					p.mu.Lock()
					p.acked = append(p.acked, number)
					p.mu.Unlock()
				} else if errors.Is(err, shim.ErrNoRoute) {
					f.t.Error(err)
				}
			}
		})
	}
	return p
}

// end lets each producer end after its present call.
func (p *producers) end() {
	p.ended.Store(true)
	p.wg.Wait()
}

func (p *producers) awaitMore(t *testing.T, n int64) {
	t.Helper()
	goal := p.added.Load() + n
	f := time.Now()
	for p.added.Load() < goal {
		if time.Since(f) > 5*time.Minute {
			t.Fatalf("only %d jobs were added, want %d", p.added.Load(), goal)
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

// drained waits until no shard has jobs, nor any on their way.
func (f *fleet) drained() {
	f.t.Helper()
	for _, s := range f.of.Shards {
		pgtest.Await(f.t, f.pools[s.Name], `
			select not exists (select from graphile_worker._private_jobs) and not exists (select from graphile_worker._gw_shard_transit)`)
	}
}

// owners checks that each slot is in exactly one shard, and none on its way.
func (f *fleet) checkOwners() {
	f.t.Helper()
	owners := make(map[int][]string)
	for _, s := range f.of.Shards {
		list := pgtest.Value[string](f.t, f.pools[s.Name],
			"select coalesce(string_agg(slot::text || ':' || state, ' '), '') from graphile_worker.list_shard_slots() where state <> 'away'")
		for _, entry := range strings.Fields(list) {
			var slot int
			var state string
			if _, err := fmt.Sscanf(strings.Replace(entry, ":", " ", 1), "%d %s", &slot, &state); err != nil {
				f.t.Fatal(err)
			}
			if state != "here" {
				f.t.Errorf("slot %d of shard %s is %s", slot, s.Name, state)
			}
			owners[slot] = append(owners[slot], s.Name)
		}
	}
	for slot := range shard.Count {
		if len(owners[slot]) != 1 {
			f.t.Errorf("slot %d is in the shards %v", slot, owners[slot])
		}
	}
}
