package gwrun

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// health is the answer of /livez and /readyz.
type health struct {
	Status  string
	Reasons []string
}

// get sends gw-run an HTTP request.
func (p *process) get(path string) (code int, body string) {
	p.t.Helper()
	response, err := http.Get("http://" + p.waitLog("serving HTTP").Address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// awaitReadiness repeats the request of /readyz until its status is want, and returns the answer.
func (p *process) awaitReadiness(want int) health {
	p.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		code, body := p.get("/readyz")
		var answer health
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			p.t.Fatalf("/readyz answers %q: %v", body, err)
		}
		if code == want {
			return answer
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("/readyz stays %d: %s", code, body)
		}
	}
}

func TestAWorkerWithoutItsDatabaseIsAliveAndNotReady(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	for name, options := range map[string][]string{"listening": nil, "polling": {"--no-listen", "--poll-interval",
		"20"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databaseURL := pgtest.Database(t)
			p := work(t, databaseURL, tasks(t, map[string]string{"short": "exit 0"}),
				append(options, "--http", "127.0.0.1:0")...)
			if answer := p.awaitReadiness(http.StatusOK); answer.Status != "ok" || answer.Reasons != nil {
				t.Errorf("ready, with %+v", answer)
			}

			setConnections(t, databaseURL, false)
			answer := p.awaitReadiness(http.StatusServiceUnavailable)
			if answer.Status != "failed" || !strings.Contains(strings.Join(answer.Reasons, " "), " fail") {
				t.Errorf("not ready, with %+v", answer)
			}
			if code, body := p.get("/livez"); code != http.StatusOK {
				t.Errorf("/livez says %d %s", code, body)
			}
			if _, body := p.get("/metrics"); !strings.Contains(body, "gw_workers_running 1") {
				t.Errorf("without the database the worker's metrics are missing: %s", body)
			}

			setConnections(t, databaseURL, true)
			p.awaitReadiness(http.StatusOK)
			addJob(t, pgtest.Pool(t, databaseURL), "short", "{}")
			p.waitLog("job completed")
		})
	}
}

// setConnections allows connections to a database, or forbids them and ends the existing sessions.
func setConnections(t *testing.T, databaseURL string, allowed bool) {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	admin := pgtest.Pool(t, os.Getenv("GW_TEST_DATABASE_URL"))
	name := pgx.Identifier{config.Database}.Sanitize()
	if allowed {
		pgtest.Exec(t, admin, "alter database "+name+" allow_connections true")
		return
	}
	pgtest.Exec(t, admin, "alter database "+name+" allow_connections false")
	pgtest.Exec(t, admin, "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", config.Database)
}

func TestAWorkerThatStopsIsAliveAndNotReady(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	gate := newGate(t)
	p := work(t, databaseURL, tasks(t, map[string]string{"long": `echo started; read -r word < '` + gate + `'`}),
		"--http", "127.0.0.1:0")
	addJob(t, pgtest.Pool(t, databaseURL), "long", "{}")
	p.waitLog("started")
	p.awaitReadiness(http.StatusOK)
	p.signal(syscall.SIGTERM)
	if answer := p.awaitReadiness(http.StatusServiceUnavailable); strings.Join(answer.Reasons,
		"") != "the worker is stopping" {
		t.Errorf("not ready, with %+v", answer)
	}
	if code, body := p.get("/livez"); code != http.StatusOK {
		t.Errorf("/livez says %d %s", code, body)
	}
	openGate(t, gate)
	p.wantExit(0)
}

func TestMetricsAreThoseOfTheWorkerTheQueueAndTheProgram(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := work(t, databaseURL, tasks(t, map[string]string{"short": "exit 0"}), "--http", "127.0.0.1:0")
	addJob(t, pool, "short", "{}")
	addJob(t, pool, "unknown", "{}")
	p.waitLog("job completed")
	again := time.NewTicker(20 * time.Millisecond) // events are counted a moment later
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		_, body := p.get("/metrics")
		missing := ""
		for _, want := range []string{
			`gw_jobs_total\{outcome="completed",task="short"\} 1`, `gw_queue_depth\{state="ready"\} 1`, `gw_queue_up 1`,
			`gw_build_info\{go_version="go[^"]*",revision="[^"]*",schema_version="\d+",version="[^"]+"\} 1`,
			`go_goroutines `, `process_resident_memory_bytes `,
		} {
			if !regexp.MustCompile(`(?m)^` + want).MatchString(body) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line is %s:\n%s", missing, body)
		}
	}
}

func TestAnAddressThatIsTakenIsAnErrorAtOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := work(t, "postgres:///unused?host=/nowhere", tasks(t, map[string]string{"short": "exit 0"}), "--http",
		taken.Addr().String())
	p.wantExit(1)
	if stderr := p.stderr.String(); !strings.Contains(stderr, "--http "+taken.Addr().String()) ||
		!strings.Contains(stderr, "address already in use") {
		t.Errorf("it says %s", stderr)
	}
}
