// Package fuzz makes random calls of add_job and add_jobs with all kinds of valid and invalid arguments, and compares every answer
// with that of a model, which implements the rules without SQL. A worker and an administrator act between the calls, so that the
// jobs under the keys wait, run, or have failed temporarily or permanently.
package fuzz

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	callsFlag = flag.Int("fuzz.calls", 5000, "how many `calls` of add_job and add_jobs to make")
	seedFlag  = flag.Uint64("fuzz.seed", 1, "the `seed` of the calls; 0 draws one")
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestEveryAnswerOfAddJobAndAddJobsIsTheOneThatTheRulesPredict(t *testing.T) {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	for name, limits := range map[string][]pgtest.Limit{"without limits": nil, "with limits": someLimits} {
		t.Run(name, func(t *testing.T) {
			if limits != nil {
				pgtest.OnOneVersion(t)
			}
			judge(t, seed, limits)
		})
	}
}

// judge makes the calls, and checks that all that has to occur did.
func judge(t *testing.T, seed uint64, limits []pgtest.Limit) {
	t.Helper()
	f := newFuzz(t, seed)
	f.setLimits(t, limits)
	calls, started := *callsFlag, time.Now()
	if limits != nil {
		calls /= 3
	}
	if err := f.run(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %d calls in %v", seed, calls, time.Since(started).Round(time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(f.model.seen)) {
		t.Logf("%8d %s", f.model.seen[what], what)
	}
	for _, l := range limits {
		if f.model.seen[reached(l)] == 0 {
			t.Errorf("this never occurred: %s", reached(l))
		}
	}
	if calls < 5000 {
		return
	}
	for _, what := range mustSee {
		if f.model.seen[what] == 0 {
			t.Errorf("this never occurred: %s", what)
		}
	}
	f.coverage.check(t)
}

// mustSee are the events that must occur in a run of the usual length.
var mustSee = []string{
	bigSeen, nullSeen, noneSeen, manySeen, "inserted", "replaced", "merged", "deduped", "run_at preserved",
	"run_at of a failed attempt not preserved", "running job let go", "failed job let go", "GWBNI", "GWBID", "GWBQN",
	"GWBJK", "GWBMA", "GWBMR", "GWBPR", "GWBNF", "GWBFL", "GWBKM", "22003", "22021", "22P02", "54001",
}

// fuzz is one run, whose calls depend only on its seed.
type fuzz struct {
	seed     uint64
	database *database
	model    *model
	coverage *coverage
}

func newFuzz(t *testing.T, seed uint64) *fuzz {
	t.Helper()
	config, err := pgx.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatalf("read the database's URL: %v", err)
	}
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["datestyle"] = "ISO"
	config.RuntimeParams["statement_timeout"] = "60s"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatalf("open a session: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &fuzz{
		seed: seed, model: newModel(), coverage: newCoverage(),
		database: &database{conn: conn, tasks: map[int32]string{}, queues: map[int32]string{}},
	}
}

func (f *fuzz) setLimits(t *testing.T, limits []pgtest.Limit) {
	t.Helper()
	if err := pgtest.SetLimits(t.Context(), f.database.conn, limits...); err != nil {
		t.Fatal(err)
	}
	f.model.limits = limits
}

const (
	checkEvery = 500    // calls between two comparisons of the whole table, which is then cleaned up
	bigEvery   = 20_000 // calls between two payloads of 10 MB; the first one comes early
	bigFirst   = 700

	bigSeen  = "payload of 10 MB"
	nullSeen = "add_jobs of null"
	noneSeen = "add_jobs of nothing"
	manySeen = "add_jobs of many"
)

// run makes the calls and returns the first difference from the model.
func (f *fuzz) run(ctx context.Context, calls int) error {
	for call := 1; call <= calls; call++ {
		g := generator{Rand: rand.New(rand.NewPCG(f.seed, uint64(call)))}
		err := f.step(ctx, g, call)
		if err == nil && (call%checkEvery == 0 || call == calls) {
			err = f.check(ctx)
		}
		if err == nil && call%checkEvery == 0 {
			err = f.tidy(ctx)
		}
		if err != nil {
			return fmt.Errorf("call %d of seed %d (-fuzz.seed=%d -fuzz.calls=%d): %w", call, f.seed, f.seed, call, err)
		}
	}
	return nil
}

// step makes one call, sometimes after an action of the worker.
func (f *fuzz) step(ctx context.Context, g generator, call int) error {
	if g.odds(8) {
		if err := f.work(ctx, g); err != nil {
			return err
		}
	}
	if call%bigEvery == bigFirst {
		g.faults = noFaults
		r := g.request()
		r.jobKey, r.payload = textOf("k"), bigPayload(call/bigEvery)
		f.model.seen[bigSeen]++
		return f.addJob(ctx, r, textOf("replace"))
	}
	if g.odds(6) {
		g.faults = 200
		return f.addJobs(ctx, g.requests(), pick(g, []truth{{}, {Valid: true}, {V: true, Valid: true}}))
	}
	g.faults = 40
	return f.addJob(ctx, g.request(), g.mode())
}

func (f *fuzz) addJob(ctx context.Context, r request, mode text) error {
	got, err := f.database.addJob(ctx, r, mode)
	if err != nil {
		return fmt.Errorf("add_job(%s): %w", describe(r), err)
	}
	rows, code := f.model.addJob(r, mode, got.now)
	f.coverage.count(r, code == "")
	if err := f.compare(ctx, got, rows, code); err != nil {
		return fmt.Errorf("add_job(%s, mode %s): %w", describe(r), describe(mode), err)
	}
	return nil
}

func (f *fuzz) addJobs(ctx context.Context, requests []request, preserve truth) error {
	got, err := f.database.addJobs(ctx, requests, preserve)
	if err != nil {
		return fmt.Errorf("add_jobs of %s: %w", describe(requests), err)
	}
	rows, code := f.model.addJobs(requests, preserve, got.now)
	for _, r := range requests {
		f.coverage.count(r, code == "")
	}
	switch {
	case requests == nil:
		f.model.seen[nullSeen]++
	case len(requests) == 0:
		f.model.seen[noneSeen]++
	case len(requests) == many && code == "":
		f.model.seen[manySeen]++
	}
	if err := f.compare(ctx, got, rows, code); err != nil {
		return fmt.Errorf("add_jobs of %s, preserve %v: %w", describe(requests), preserve, err)
	}
	return nil
}

// compare returns how an answer differs from that of the model.
func (f *fuzz) compare(ctx context.Context, got answer, rows []job, code string) error {
	if got.code != code {
		return fmt.Errorf("the answer is %q, want %q", got.code, code)
	}
	if len(got.rows) != len(rows) {
		return fmt.Errorf("%d rows came back, want %d", len(got.rows), len(rows))
	}
	for i, row := range rows {
		if err := differences(got.rows[i], row); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return f.look(ctx)
}

// look compares all rows that have changed since the last look, expectedly or not, the number of rows and names, and the sequences
// with the model. All other rows were compared by an earlier look.
func (f *fuzz) look(ctx context.Context) error {
	got, is, drawn, err := f.database.look(ctx, f.model.changed)
	if err != nil {
		return fmt.Errorf("look at the tables: %w", err)
	}
	f.model.changed = nil
	for _, row := range got {
		if err := differences(row, f.model.jobs[row.id]); err != nil {
			return fmt.Errorf("the table: %w", err)
		}
	}
	if want := (sizes{len(f.model.jobs), len(f.model.tasks), len(f.model.queues)}); is != want {
		return fmt.Errorf("the tables have %+v rows, want %+v", is, want)
	}
	if drawn != f.model.last {
		return fmt.Errorf("the sequences are at %+v, want %+v", drawn, f.model.last)
	}
	return nil
}

// check compares the whole table and all names with the model's.
func (f *fuzz) check(ctx context.Context) error {
	got, err := f.database.call(ctx, allJobs)
	if err != nil {
		return fmt.Errorf("read the table: %w", err)
	}
	if len(got.rows) != len(f.model.jobs) {
		return fmt.Errorf("the table has %d jobs, want %d", len(got.rows), len(f.model.jobs))
	}
	for _, row := range got.rows {
		if err := differences(row, f.model.jobs[row.id]); err != nil {
			return fmt.Errorf("the table: %w", err)
		}
	}
	var tasks, queues []string
	if err := f.database.conn.QueryRow(ctx, allNames).Scan(&tasks, &queues); err != nil {
		return fmt.Errorf("read the names: %w", err)
	}
	for _, names := range []struct {
		got  []string
		want map[string]bool
	}{{tasks, f.model.tasks}, {queues, f.model.queues}} {
		slices.Sort(names.got)
		if want := slices.Sorted(maps.Keys(names.want)); !slices.Equal(names.got, want) {
			return fmt.Errorf("the names are %s, want %s", describe(names.got), describe(want))
		}
	}
	return nil
}
