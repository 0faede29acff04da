package gwrun

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// limited is a config file whose limit lets two jobs of the task run at once.
const limited = `
limits:
  calls: {tasks: call, max_running: 2}
tasks:
  call: {timeout: 5m}
`

// Each job notes that it runs, looks who else does, and stays for a moment.
const countRunning = `
	: > "$RUNNING/$GRAPHILE_WORKER_JOB_ID"
	ls "$RUNNING" | wc -l >> "$RUNNING.counts"
	sleep 0.02
	ls "$RUNNING" | wc -l >> "$RUNNING.counts"
	rm "$RUNNING/$GRAPHILE_WORKER_JOB_ID"`

func TestALimitOfTheConfigFileHoldsForAllWorkersTogether(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, limited, map[string]string{"call": countRunning})
	running := filepath.Join(dir, "running")
	if err := os.Mkdir(running, 0o755); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pool, `select graphile_worker.add_job('call') from generate_series(1, 60)`) // before there is a limit
	var workers []*process
	for range 2 {
		p := prepare(t, nil, "-c", databaseURL, "--tasks", filepath.Join(dir, "tasks"), "--log-format", "json", "-j",
			"8", "--poll-interval", "1h")
		p.cmd.Env = append(p.cmd.Env, "RUNNING="+running)
		p.start()
		p.waitLog("worker started")
		workers = append(workers, p)
	}
	pgtest.Exec(t, pool, `select graphile_worker.add_job('call') from generate_series(1, 60)`)
	pgtest.Await(t, pool, queueIsEmpty)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
	counts, err := os.ReadFile(running + ".counts")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, count := range strings.Fields(string(counts)) {
		seen[count]++
	}
	if seen["2"] == 0 || seen["1"]+seen["2"] != 240 {
		t.Errorf("so many jobs were seen running at once, and so often: %v", seen)
	}
}

func TestTheLimitsOfTheConfigFileAreSetAgainWhenTheyChange(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, limited, map[string]string{"call": "exit 0"})
	config := filepath.Join(dir, "gw.yaml")
	p := work(t, databaseURL, filepath.Join(dir, "tasks"))
	p.waitLog("limit set")
	p.waitLog("worker started")

	writeFile(t, config, strings.Replace(limited, "max_running: 2", "max_running: 3", 1))
	p.signal(syscall.SIGHUP)
	p.waitLog("limits reloaded")
	pgtest.Await(t, pool, `select max_running = 3 from graphile_worker.list_limits()`)

	writeFile(t, config, strings.Replace(limited, "calls:", "others:", 1))
	p.signal(syscall.SIGHUP)
	p.waitLog("limit is no longer in the config, but stays in force")
	pgtest.Await(t, pool, `select array_agg(name order by name) = '{calls,others}' from graphile_worker.list_limits()`)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)

	// What is set already is not set again, so that the start of a worker does not disturb producers.
	again := work(t, databaseURL, filepath.Join(dir, "tasks"))
	again.waitLog("worker started")
	again.signal(syscall.SIGTERM)
	again.wantExit(0)
	if strings.Contains(again.stderr.String(), "limit set") {
		t.Error("the limit is set again")
	}
	writeFile(t, config, "limits:\n  calls: {max_running: 0}\n")
	wrong := work(t, databaseURL, filepath.Join(dir, "tasks"))
	wrong.wantExit(1)
	if !strings.Contains(wrong.stderr.String(), "gw.yaml:2:24: max_running is 0, must be at least 1") {
		t.Error("the mistake is not explained")
	}
}

func TestAPauseSurvivesARestartAndEndsAtOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := tasks(t, map[string]string{"paused": "exit 0", "other": "exit 0"})
	pgtest.Exec(t, pool, `select graphile_worker.pause(task => 'paused', reason => 'migration')`)
	paused := addJob(t, pool, "paused", "{}")
	for range 2 {
		p := work(t, databaseURL, dir, "--poll-interval", "1h")
		p.waitLog("worker started")
		other := addJob(t, pool, "other", "{}")
		pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs where id = $1)`, other)
		wantJob(t, pool, paused, 0)
		p.signal(syscall.SIGTERM)
		p.wantExit(0)
	}
	p := work(t, databaseURL, dir, "--poll-interval", "1h")
	p.waitLog("worker started")
	other := addJob(t, pool, "other", "{}")
	pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs where id = $1)`, other)
	pgtest.Exec(t, pool, `select graphile_worker.resume(task => 'paused')`)
	pgtest.Await(t, pool, queueIsEmpty) // although the worker polls once an hour
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

// The server refuses the second request; then none comes until the time that it has given, and no attempt is lost.
func TestAServerThatIsCalledTooOftenIsLeftAlone(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	var (
		mu      sync.Mutex
		refused time.Time
		calls   int
		early   int
	)
	const pause = time.Second
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch calls++; {
		case r.Header.Get("Gw-Attempt") != "1":
			t.Errorf("attempt %s of job %s", r.Header.Get("Gw-Attempt"), r.Header.Get("Gw-Job-Id"))
		case calls == 2:
			refused = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case calls > 2 && time.Since(refused) < pause:
			early++
		}
	}))
	t.Cleanup(server.Close)
	dir := configured(t, fmt.Sprintf("limits:\n  api: {tasks: call, max_running: 1}\ntasks:\n  call: {http: %q}\n",
		server.URL), nil)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('call', max_attempts => 1) from generate_series(1, 10)`)
	p := work(t, databaseURL, filepath.Join(dir, "tasks"), "-j", "4", "--poll-interval", "1h")
	pgtest.Await(t, pool, queueIsEmpty)
	p.waitLog("job was rate limited and returned")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
	mu.Lock()
	defer mu.Unlock()
	if calls != 11 || early > 0 {
		t.Errorf("%d calls, %d of them too early", calls, early)
	}
}
