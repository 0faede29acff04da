package adversary

import (
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// enough is the time after which the search for a violation of a broken rule ends.
const enough = 3 * time.Minute

// Each rule is broken once, by a change of the queue or of a worker, and the trial must report it.
func TestABrokenRuleIsNamed(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, m := range pgtest.Mutants(mutants) {
		t.Run(m.name, func(t *testing.T) { // not beside each other: one trial keeps the machine busy
			tr := newTrial(t, *seedFlag)
			tr.firstQuiet = time.Second
			began := time.Now()
			switch v := tr.run(enough, func() { m.breakRule(t, tr) }); {
			case v == nil:
				t.Errorf("nobody broke %q", m.rule)
			case v.rule != m.rule:
				t.Errorf("want %q broken, got: %s", m.rule, tr.describe(v))
			default:
				t.Logf("after %s: %s", time.Since(began).Round(time.Millisecond), shorten(v.detail))
			}
		})
	}
}

type mutant struct {
	name      string
	rule      rule
	breakRule func(t *testing.T, tr *trial)
}

var mutants = []mutant{
	{"a function that raises an error without a code", errorsAreOurs,
		onInsert(`max_attempts = 100`, `raise exception 'What now?'`)},
	{"an error that tells of the job of another", secretsAreKept, mutate("_gw_enqueue_task",
		`in use by a job of another task.', job_key`,
		`in use by %.', job_key, (select j from graphile_worker._private_jobs as j where j.id = holder_id)`)},
	{"a limited producer that replaces the job of another task", nothingIsTouched, mutate("_gw_enqueue_task",
		`and t.identifier = _gw_enqueue_task.identifier`, ``)},
	{"a job that blocks the table", honestJobsStart, onInsert(`priority = 100`,
		`lock table graphile_worker._private_jobs in exclusive mode; perform pg_sleep(3)`)},
	{"a job that is added twice", honestJobsRunOnce,
		onInsert(`key ~ '^honest'`, `insert into graphile_worker._private_jobs (task_id, payload) values (new.task_id, new.payload)`)},
	{"a worker that is gone", workersStay, func(t *testing.T, tr *trial) {
		if err := tr.program.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}},
	{"a worker that is told to look ten times a second", idleIsQuiet, mutate("fall_asleep",
		`.next_run_at(task_identifiers);`, `.next_run_at(task_identifiers); next_run_at := clock_timestamp() + interval '0.1 seconds';`)},
	{"jobs that are never claimed", backlogIsWorked, mutate("_gw_suits",
		`operator(pg_catalog.<=) due`, `operator(pg_catalog.<=) due and pg_catalog.isfinite(run_at)`)},
	{"a bound of memory that a worker cannot keep", memoryIsBounded,
		func(_ *testing.T, tr *trial) { tr.mostMemory = 1 }},
	{"a doctor who takes his time", operatorsCan,
		mutate("doctor", "return query", "perform pg_sleep(7); return query")},
}

func mutate(function, sound, broken string) func(*testing.T, *trial) {
	return func(t *testing.T, tr *trial) {
		if err := pgtest.Mutate(t.Context(), tr.owner, function, sound, broken); err != nil {
			t.Fatal(err)
		}
		tr.acceptDefinitions(t)
	}
}

// acceptDefinitions makes the current definitions the ones that must not change.
func (tr *trial) acceptDefinitions(t *testing.T) {
	var err error
	if tr.before, err = tr.canary.look(t.Context(), tr.owner); err != nil {
		t.Fatal(err)
	}
}

// onInsert runs an action for inserted jobs that match a condition.
func onInsert(condition, action string) func(*testing.T, *trial) {
	return func(t *testing.T, tr *trial) {
		pgtest.Exec(t, tr.owner, `
			create function graphile_worker.misbehave() returns trigger language plpgsql security definer as $do$begin `+action+`; return new; end$do$;
			create trigger misbehave after insert on graphile_worker._private_jobs
			  for each row when (new.`+condition+`) execute function graphile_worker.misbehave()`)
		tr.acceptDefinitions(t)
	}
}
