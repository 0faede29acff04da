package shim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

func newQueries(t *testing.T, mode pgx.QueryExecMode) *queries {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	config.ConnConfig.DefaultQueryExecMode = mode
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &queries{pool: pool, schema: `"graphile_worker"`, workerID: "gw-test"}
}

func TestEveryCallWorksInEveryQueryMode(t *testing.T) {
	for _, mode := range pgtest.QueryModes {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			c := calls{T: t, queries: newQueries(t, mode)}
			c.begin()
			c.report(c.claimAndSleep())
			c.claimWithoutFlags()
			c.claimBytes()
			c.check(c.deregister(t.Context()))
		})
	}
}

// calls are the calls of a worker that tests make.
type calls struct {
	*testing.T
	*queries
}

func (c calls) check(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c calls) begin() {
	ctx := c.Context()
	revision, err := c.breakingRevision(ctx)
	c.check(err)
	if revision != 19 {
		c.Errorf("breaking revision is %d", revision)
	}
	version, err := c.breakingVersion(ctx)
	c.check(err)
	if version != 0 {
		c.Errorf("breaking version is %d", version)
	}
	c.check(c.register(ctx, identity{tasks: []string{"a", "b"}, concurrency: 2, hostname: "here", pid: 1,
		version: "v"}))
	pulse, err := c.heartbeat(ctx, time.Minute, nil, told{}, nil, true)
	c.check(err)
	if !pulse.registered || pulse.next != 5*time.Second {
		c.Errorf("the first heartbeat is answered by %+v", pulse)
	}
	_, err = c.staleSweep(ctx)
	c.check(err)
}

// claimAndSleep claims three jobs, finds no more of them, and asks what a sleeper asks.
func (c calls) claimAndSleep() []*Job {
	ctx := c.Context()
	c.check(c.exec(ctx, `select S.add_job('a', '{"n": 9007199254740993}', 'q', now() - interval '1 minute', 5, 'k', -3, array['f'])`))
	c.check(c.exec(ctx, `select S.add_job('b'), S.add_job('a'), S.add_job('b', run_at => now() + interval '1 minute')`))
	c.check(c.exec(ctx, `select S.set_setting('notify', 'idle')`))
	answer, err := c.claim(ctx, ration.Plan{Tasks: []string{"a", "b"}, Limit: 10}, time.Minute, exclusions{})
	c.check(err)
	if len(answer.jobs) != 3 || answer.dueIn != nil || answer.newMark {
		c.Fatalf("claimed %+v", answer)
	}
	first := answer.jobs[0]
	if string(first.Payload) != `{"n": 9007199254740993}` || first.QueueName != "q" || first.Priority != -3 ||
		first.MaxAttempts != 5 || first.Key != "k" || !slices.Equal(first.Flags, []string{"f"}) || first.Attempts != 1 {
		c.Errorf("first job is %+v", first)
	}
	for _, given := range []struct {
		lasting time.Duration
		newMark bool
	}{{0, false}, {time.Minute, true}, {time.Minute, false}} {
		empty, err := c.claim(ctx, ration.Plan{Tasks: []string{"a", "b"}, Limit: 10}, given.lasting, exclusions{})
		c.check(err)
		if len(empty.jobs) != 0 || empty.dueIn == nil || *empty.dueIn <= 0 || *empty.dueIn > time.Minute ||
			empty.newMark != given.newMark {
			c.Errorf("with one job due in a minute and a mark for %s, the answer is %+v", given.lasting, empty)
		}
	}
	c.check(c.wakeUp(ctx))
	inFlight, err := c.stillInFlight(ctx, nil)
	c.check(err)
	const future = 1 << 40
	inFlight, err = c.stillInFlight(ctx, append(inFlight, future))
	c.check(err)
	if !slices.Contains(inFlight, future) {
		c.Errorf("in flight are %v", inFlight)
	}

	pulse, err := c.heartbeat(ctx, time.Minute, answer.jobs, told{running: 1, ids: []int64{first.ID}},
		[]*progress{{job: first, percent: 12.5, note: "half"}}, false)
	c.check(err)
	if len(pulse.leases) != 3 || pulse.leases[first.ID] != first.Lease || pulse.aloneWaits {
		c.Errorf("the heartbeat is answered by %+v, want three leases as %d", pulse, first.Lease)
	}
	var progress string
	c.check(c.row(ctx, &progress, `select s.progress || s.progress_note from S.show_jobs(array[$1::bigint]) as s`,
		first.ID))
	if progress != "12.5half" {
		c.Errorf("the heartbeat has stored the progress %q", progress)
	}
	alone, err := c.claimJobs(ctx, c.suspect(false), ration.Plan{Tasks: []string{"a", "b"}}, exclusions{})
	c.check(err)
	if len(alone) != 0 {
		c.Errorf("claimed alone: %+v", alone)
	}
	return answer.jobs
}

// report reports an outcome of each kind.
func (c calls) report(jobs []*Job) {
	ctx := c.Context()
	first := jobs[0]
	done, err := c.complete(ctx, []outcome{{job: first, lease: first.Lease}})
	c.check(err)
	if _, ok := done.to(first.ID); !ok {
		c.Errorf("completed %v", done)
	}
	if done, err = c.complete(ctx, []outcome{{job: first, lease: first.Lease}}); err != nil || done == nil ||
		len(done) != 0 {
		c.Errorf("completed again %v, %v", done, err)
	}
	done, err = c.fail(ctx, []outcome{{job: jobs[1], lease: first.Lease, message: `"quoted" 'and' \ →`}})
	c.check(err)
	got := done[jobs[1].ID]
	got.retryIn = got.retryIn.Round(time.Microsecond)
	if got != (fate{"scheduled", 1, 25, 2718282 * time.Microsecond, true}) {
		c.Errorf("failed %v", done)
	}
	done, err = c.giveBack(ctx, []outcome{{job: jobs[2], lease: first.Lease}})
	c.check(err)
	if got, taken := done.to(jobs[2].ID); !taken || got != (fate{"ready", 0, 25, 0, false}) {
		c.Errorf("returned %v", done)
	}
	c.check(c.unlock(ctx))
}

func (c calls) claimWithoutFlags() {
	ctx := c.Context()
	c.check(c.exec(ctx, `select S.add_job('c', flags => array['f"→'])`))
	for _, given := range []struct {
		flag string
		jobs int
	}{{`f\"→`, 0}, {"g", 1}} {
		left := exclusions{flags: []string{"other"}, ofTasks: new(fmt.Sprintf(`{"c": ["%s"], "d": []}`, given.flag))}
		alone, err := c.claimJobs(ctx, c.suspect(false), ration.Plan{Tasks: []string{"c"}}, left)
		c.check(err)
		if len(alone) != 0 {
			c.Errorf("of a job with another flag than %s there was claimed %v alone", given.flag, alone)
		}
		answer, err := c.claim(ctx, ration.Plan{Tasks: []string{"c"}, Limit: 10}, 0, left)
		c.check(err)
		if len(answer.jobs) != given.jobs {
			c.Errorf("of a job with another flag than %s there was claimed %+v", given.flag, answer)
		}
		c.check(c.unlock(ctx))
	}
}

func (c calls) claimBytes() {
	ctx := c.Context()
	c.check(c.exec(ctx, `select S.add_job('d', to_json(repeat('x', 998))) from generate_series(1, 3)`))
	short := exclusions{ofTasks: new(`{"d": ["f"]}`)}
	answer, err := c.claim(ctx, ration.Plan{Tasks: []string{"d"}, Limit: 10, Beyond: new(int64(2500))}, 0, short)
	if err != nil || len(answer.jobs) != 2 || answer.jobs[0].hold.bytes != 1000 {
		c.Errorf("of jobs of 1000 bytes there were claimed %d, %v", len(answer.jobs), err)
	}
}

func TestAPlanOutdatedByAMigrationIsTriedAgain(t *testing.T) {
	t.Parallel()
	q := newQueries(t, pgx.QueryExecModeCacheStatement)
	ctx := t.Context()
	steps := []string{`create table S.probe (v integer)`, `insert into S.probe values (1)`}
	for _, sql := range steps {
		if err := q.exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range []string{``, `alter table S.probe alter column v type bigint`} {
		if err := q.exec(ctx, change); err != nil {
			t.Fatal(err)
		}
		var v int
		if err := q.row(ctx, &v, `select p.v from S.probe as p`); err != nil {
			t.Fatal(err)
		}
	}
}
