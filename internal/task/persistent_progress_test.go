package task_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// A program reports its progress by lines before its answer, and gets what it needs to save steps in the database.
func TestAPersistentProgramReportsProgressAndSavesSteps(t *testing.T) {
	captureLog(t)
	pool, dir := pgtest.Pool(t, pgtest.Database(t)), t.TempDir()
	pgtest.Hurry(t, pool)
	p := newPersistent(t, task.PersistentConfig{},
		loop(`echo "$line" > '`+dir+`/line'; echo "{\"id\":$id,\"progress\":10}"; `+
			`echo "{\"id\":$id,\"progress\":40.5,\"note\":\"row 8 of 20\"}"; while ! [ -e '`+dir+`/go' ]; do sleep 0.05; done; `+isOK))
	id := pgtest.Value[int64](t, pool, `select id from graphile_worker.add_job('a')`)
	worker, err := shim.New(pool, shim.Config{WorkerID: "the worker"})
	if err != nil {
		t.Fatal(err)
	}
	worker.Handle("a", p.Run)
	done := make(chan error, 1)
	go func() { done <- worker.Run(context.Background()) }()
	pgtest.Await(t, pool, `
		select exists (select from graphile_worker.show_jobs(array[$1::bigint]) as s
		                where s.progress = 40.5 and s.progress_note = 'row 8 of 20')`, id)

	var line struct {
		WorkerID string `json:"worker_id"`
		Lease    int64  `json:"lease"`
	}
	if err := json.Unmarshal([]byte(read(t, dir+"/line")), &line); err != nil {
		t.Fatal(err)
	}
	want(t, "the worker of the line", line.WorkerID, "the worker")
	pgtest.Exec(t, pool, `select graphile_worker.save_step($1, $2, $3, 'step', '1')`, line.WorkerID, id, line.Lease)
	write(t, 0o600, "", dir+"/go")
	pgtest.Await(t, pool, `select not exists (select from graphile_worker.jobs)`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := worker.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestInvalidProgressOfAProgramFailsTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	captureLog(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo "{\"id\":$id,\"progress\":101}"; `+isOK))
	err := p.Run(t.Context(), jobOf(3, "{}"))
	if err == nil || !strings.Contains(err.Error(), "percent is 101; it must be between 0 and 100") {
		t.Errorf("got %v", err)
	}
}
