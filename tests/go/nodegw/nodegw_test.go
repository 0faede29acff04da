package nodegw

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachVersionInstallsItsRevisionAndWorks(t *testing.T) {
	for version, revision := range map[Version]int{V16: 18, V17: 19, V18: 20} {
		t.Run(string(version), func(t *testing.T) {
			const schema = `a "strange" schema`
			url := pgtest.EmptyDatabase(t)
			Migrate(t, version, url, schema)
			pool := pgtest.Pool(t, url)
			if got := pgtest.Value[int](t, pool,
				`select max(id) from "a ""strange"" schema".migrations`); got != revision {
				t.Errorf("the schema has revision %d, want %d", got, revision)
			}

			results := Utils(t, version, url, schema, Call{"addJob", "greet", map[string]any{"name": "Ada"}})
			var job struct {
				TaskIdentifier string `json:"task_identifier"`
			}
			if err := json.Unmarshal(results[0], &job); err != nil || job.TaskIdentifier != "greet" {
				t.Errorf("addJob returns %s", results[0])
			}
			w := Start(t, Options{
				Version: version, DatabaseURL: url, Schema: schema,
				Tasks: map[string]string{"greet": `helpers.logger.info("hello " + payload.name)`},
			})
			w.Wait("hello Ada")
			// Of a job that has just ended, a stop may come before it is written.
			pgtest.Await(t, pool, `select not exists (select from "a ""strange"" schema".jobs)`)
			w.Stop()
		})
	}
}

func TestAKilledWorkerLeavesItsJobLocked(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	Utils(t, V18, url, "", Call{"addJob", "hang"})
	w := Start(t, Options{DatabaseURL: url, Tasks: map[string]string{"hang": `helpers.logger.info("here"); await new Promise(() => {})`}})
	w.Wait("here")
	w.Kill()
	if !pgtest.Value[bool](t, pgtest.Pool(t, url), "select locked_by like 'pool-%' from graphile_worker.jobs") {
		t.Error("the job is not locked by the worker that was killed")
	}
}

// The kernel closes the files of a test process in whatever way it ends.
func TestAWorkerEndsWithTheTestThatStartedIt(t *testing.T) {
	w := Start(t, Options{DatabaseURL: pgtest.EmptyDatabase(t), Tasks: map[string]string{"a": ""},
		PollInterval: time.Hour})
	if err := w.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	w.wait()
	if status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("the worker ended by %s", w.cmd.ProcessState)
	}
}

func TestAnErrorSaysWhatNodePrinted(t *testing.T) {
	_, err := TryUtils(t, V18, pgtest.EmptyDatabase(t), "", Call{"addJob", strings.Repeat("a", 129)})
	if err == nil || !strings.Contains(err.Error(), "tasks_identifier_check") {
		t.Errorf("want the database's error, got %v", err)
	}
}
