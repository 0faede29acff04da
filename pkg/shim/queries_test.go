package shim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
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
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			q := newQueries(t, mode)
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			revision, err := q.breakingRevision(ctx)
			check(err)
			if revision != 19 {
				t.Errorf("breaking revision is %d", revision)
			}
			version, err := q.breakingVersion(ctx)
			check(err)
			if version != 0 {
				t.Errorf("breaking version is %d", version)
			}
			check(q.register(ctx, identity{tasks: []string{"a", "b"}, concurrency: 2, host: "here", pid: 1, version: "v"}))
			pulse, err := q.heartbeat(ctx, time.Minute, nil, true)
			check(err)
			if !pulse.registered || pulse.next != 5*time.Second {
				t.Errorf("the first heartbeat is answered by %+v", pulse)
			}
			_, err = q.staleSweep(ctx)
			check(err)

			check(q.exec(ctx, `select S.add_job('a', '{"n": 9007199254740993}', 'q', now() - interval '1 minute', 5, 'k', -3, array['f'])`))
			check(q.exec(ctx, `select S.add_job('b'), S.add_job('a'), S.add_job('b', run_at => now() + interval '1 minute')`))
			check(q.exec(ctx, `select S.set_setting('notify', 'idle')`))
			answer, err := q.claim(ctx, []string{"a", "b"}, 10, time.Minute, forbidden{})
			check(err)
			if len(answer.jobs) != 3 || answer.dueIn != nil || answer.newMark {
				t.Fatalf("claimed %+v", answer)
			}
			first := answer.jobs[0]
			if string(first.Payload) != `{"n": 9007199254740993}` || first.QueueName != "q" || first.Priority != -3 ||
				first.MaxAttempts != 5 || first.Key != "k" || !slices.Equal(first.Flags, []string{"f"}) || first.Attempts != 1 {
				t.Errorf("first job is %+v", first)
			}
			for _, c := range []struct {
				lasting time.Duration
				newMark bool
			}{{0, false}, {time.Minute, true}, {time.Minute, false}} {
				empty, err := q.claim(ctx, []string{"a", "b"}, 10, c.lasting, forbidden{})
				check(err)
				if len(empty.jobs) != 0 || empty.dueIn == nil || *empty.dueIn <= 0 || *empty.dueIn > time.Minute || empty.newMark != c.newMark {
					t.Errorf("with one job due in a minute and a mark for %s, the answer is %+v", c.lasting, empty)
				}
			}
			check(q.wakeUp(ctx))
			inFlight, err := q.stillInFlight(ctx, nil)
			check(err)
			const future = 1 << 40
			inFlight, err = q.stillInFlight(ctx, append(inFlight, future))
			check(err)
			if !slices.Contains(inFlight, future) {
				t.Errorf("in flight are %v", inFlight)
			}

			pulse, err = q.heartbeat(ctx, time.Minute, answer.jobs, false)
			check(err)
			if len(pulse.leases) != 3 || pulse.leases[first.ID] != first.Lease || pulse.aloneWaits {
				t.Errorf("the heartbeat is answered by %+v, want three leases as %d", pulse, first.Lease)
			}
			alone, err := q.claimAlone(ctx, []string{"a", "b"}, forbidden{}, false)
			check(err)
			if len(alone) != 0 {
				t.Errorf("claimed alone: %+v", alone)
			}

			done, err := q.complete(ctx, []outcome{{job: first, lease: first.Lease}})
			check(err)
			if _, ok := done.to(first.ID); !ok {
				t.Errorf("completed %v", done)
			}
			if done, err = q.complete(ctx, []outcome{{job: first, lease: first.Lease}}); err != nil || done == nil || len(done) != 0 {
				t.Errorf("completed again %v, %v", done, err)
			}
			done, err = q.fail(ctx, []outcome{{job: answer.jobs[1], lease: first.Lease, message: `"quoted" 'and' \ →`}})
			check(err)
			got := done[answer.jobs[1].ID]
			got.retryIn = got.retryIn.Round(time.Microsecond)
			if got != (fate{"scheduled", 1, 25, 2718282 * time.Microsecond}) {
				t.Errorf("failed %v", done)
			}
			done, err = q.giveBack(ctx, []outcome{{job: answer.jobs[2], lease: first.Lease}})
			check(err)
			if got, taken := done.to(answer.jobs[2].ID); !taken || got != (fate{"ready", 0, 25, 0}) {
				t.Errorf("returned %v", done)
			}
			check(q.unlock(ctx))

			check(q.exec(ctx, `select S.add_job('c', flags => array['f"→'])`))
			for _, c := range []struct {
				flag string
				jobs int
			}{{`f\"→`, 0}, {"g", 1}} {
				left := forbidden{flags: []string{"other"}, ofTasks: new(fmt.Sprintf(`{"c": ["%s"], "d": []}`, c.flag))}
				alone, err := q.claimAlone(ctx, []string{"c"}, left, false)
				check(err)
				beside, err := q.claimBeside(ctx, []string{"c"}, 10, left)
				check(err)
				if len(alone) != 0 || len(beside) != c.jobs {
					t.Errorf("of a job with another flag than %s there were claimed %v and %v", c.flag, alone, beside)
				}
				check(q.unlock(ctx))
				answer, err := q.claim(ctx, []string{"c"}, 10, 0, left)
				check(err)
				if len(answer.jobs) != c.jobs {
					t.Errorf("of a job with another flag than %s there was claimed %+v", c.flag, answer)
				}
			}

			check(q.exec(ctx, `select S.add_job('d', to_json(repeat('x', 998))) from generate_series(1, 3)`))
			short := forbidden{ofTasks: new(`{"d": ["f"]}`), beyond: new(int64(2500))}
			beside, err := q.claimBeside(ctx, []string{"d"}, 10, short)
			check(err)
			if len(beside) != 2 || beside[0].hold.bytes != 1000 {
				t.Errorf("of jobs of 1000 bytes there were claimed %d", len(beside))
			}
			check(q.unlock(ctx))
			if answer, err = q.claim(ctx, []string{"d"}, 10, 0, short); err != nil || len(answer.jobs) != 2 {
				t.Errorf("of jobs of 1000 bytes there were claimed %d, %v", len(answer.jobs), err)
			}
			check(q.deregister(ctx))
		})
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
