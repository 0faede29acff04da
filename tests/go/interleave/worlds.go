package interleave

// empty removes all that a world may have left.
const empty = "select interleave.empty();"

// emptyFunction is a function, for its statements are planned once.
const emptyFunction = `
	create function interleave.empty()
	  returns void
	  language plpgsql
	as $$
	begin
	  delete from graphile_worker._private_jobs;
	  delete from graphile_worker._private_job_queues;
	  delete from graphile_worker._private_tasks;
	  delete from graphile_worker._gw_workers;
	  delete from graphile_worker._gw_suspects;
	  delete from graphile_worker._gw_cancels;
	  delete from graphile_worker._gw_sleepers;
	  delete from graphile_worker._gw_job_context;
	  insert into graphile_worker._gw_steps values (0, 0, '', 'null'); -- so that the table is not shorter in some orders
	  delete from graphile_worker._gw_steps;
	  delete from graphile_worker._gw_progress;
	  delete from graphile_worker._gw_keyed_calls;
	  delete from graphile_worker._gw_schedules;
	  delete from graphile_worker._private_known_crontabs;
	  delete from graphile_worker._gw_recovery;
	  delete from graphile_worker._gw_cron_patterns;
	  delete from graphile_worker._gw_samples;
	  delete from graphile_worker._gw_audit;
	  delete from graphile_worker._gw_settings;
	  delete from graphile_worker._gw_claim_cursors;
	  update graphile_worker._gw_turns set last_at = case name when 'sample' then 'infinity' else clock_timestamp() end; -- a sample is due by the clock
	  perform setval('graphile_worker.jobs_id_seq1', 1, false);
	  perform setval('graphile_worker.tasks_id_seq', 1, false);
	  perform setval('graphile_worker.job_queues_id_seq', 1, false);
	end
	$$`

// The parts of worlds.
const (
	steady     = `select graphile_worker.register_worker('w9', array['a'], 1); update graphile_worker._gw_workers set beating_since = now() - interval '1 hour' where id = 'w9';`
	jobK       = `select graphile_worker.add_job('a', '{"n": 1}', job_key => 'k', run_at => '2020-01-01');`
	jobKQ      = `select graphile_worker.add_job('a', '{"n": 1}', job_key => 'k', run_at => '2020-01-01', queue_name => 'q');`
	jobQ2      = `select graphile_worker.add_job('a', '{"n": 11}', run_at => '2020-01-02', queue_name => 'q');`
	jobR2      = `select graphile_worker.add_job('a', '{"n": 12}', run_at => '2020-01-02');`
	claimed    = `select from graphile_worker.get_job('w0', now => '2020-01-01 12:00Z');`
	jobQ3      = `select graphile_worker.add_job('a', '{"n": 13}', run_at => '2020-01-01', queue_name => 'q');`
	streakOfQ  = `select from graphile_worker.get_job_batch('w0', batch_size => 9, queue_batch => 9);`
	registered = `select from graphile_worker.register_worker('w0', array['a'], 1);`
	dead       = `update graphile_worker._gw_workers set last_seen_at = now() - interval '1 hour' where id = 'w0'; update graphile_worker._private_jobs set locked_at = now() - interval '1 hour' where locked_at is not null; update graphile_worker._private_job_queues set locked_at = now() - interval '1 hour' where locked_at is not null; update graphile_worker._gw_turns set last_at = '2020-01-01' where name = 'stale_sweep';`
)

// The parts of worlds of calls that decide by a key.
const (
	jobOnce       = `select from graphile_worker.add_job_once('a', '{"n": 1}', 'k', within => '1 hour', run_at => '2020-01-01');`
	jobDebounced  = `select from graphile_worker.debounce_job('a', '{"n": 1}', 'k', wait => '10 minutes', max_wait => '30 minutes'); update graphile_worker._gw_keyed_calls set began_at = began_at - interval '25 minutes'; update graphile_worker._private_jobs set run_at = '2020-01-01';`
	jobThrottled  = `select from graphile_worker.throttle_job('a', '{"n": 1}', 'k', every => '20 minutes'); update graphile_worker._private_jobs set run_at = '2020-01-01';`
	failedOnce    = `update graphile_worker._private_jobs set attempts = 1, last_error = 'x', run_at = now() + interval '45 minutes' where id = 1;`
	recordsSpent  = `update graphile_worker._gw_keyed_calls set began_at = '2020-01-01', kept_until = '2020-01-02';`
	onceAndJob    = jobOnce + recordsSpent
	allKindsSpent = jobOnce + jobDebounced + jobThrottled + recordsSpent
)

// A place is the rows before the calls.
type place struct {
	name  string
	setup string
}

// places are those of all pairs.
var places = []place{
	{"empty", empty},
	{"ready", empty + jobK + jobR2},
	{"queue", empty + jobKQ + jobQ2},
	{"running", empty + registered + jobK + jobR2 + claimed},
	{"running queue", empty + registered + jobKQ + jobQ2 + claimed},
	{"running streak", empty + registered + jobKQ + jobQ2 + jobQ3 + streakOfQ},
	{"failed", empty + registered + jobK + jobR2 +
		`update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'x' where id = 1;`},
	{"scheduled", empty + registered + jobKQ + jobR2 +
		`select graphile_worker.cron_schedule('s', '* * * * *', 'a', '{"n": 20}', job_key => 'k'); update graphile_worker._gw_schedules set active_since = '2020-01-01', last_run = '2020-01-01';`},
	{"suspect", empty + registered + jobKQ + jobR2 +
		`insert into graphile_worker._gw_suspects (job_id, queue_name, crashes) values (1, 'q', 1); update graphile_worker._private_jobs set last_error = 'Worker w8 died', job_queue_id = -2 where id = 1;`},
	{"names", empty + `select graphile_worker._gw_make_names(array['a', 'b'], array['q']);`},
	{"busy", empty + registered + jobK + claimed},
	{"busy queue", empty + registered + jobKQ + claimed},
	{"dead beside a queue", empty + registered + jobK + jobQ2 + claimed + dead + steady +
		`select graphile_worker.set_setting('recovered_jobs', 'run');`},
	{"dead queue", empty + registered + jobKQ + jobQ2 + claimed + dead + steady},
}

// A call is a statement that a session sends, by a name for people.
type call struct {
	name string
	sql  string
	op   operation // what it means; nil if the model does not know
}

// called returns the call of an operation.
func called(name string, op operation) call { return call{name, op.sql(), op} }

// A transaction is what a session of a world does: its calls, and a commit.
type transaction struct {
	calls     []call
	isolation string // empty for read committed
}

// A world is the rows before the calls, and the transactions that run at once.
type world struct {
	name     string
	setup    string
	sessions []transaction
}

// statements returns what a session sends, up to the end of its transaction.
func (t transaction) statements() []string {
	var sent []string
	for _, c := range t.calls {
		sent = append(sent, c.sql)
	}
	return append(sent, "commit")
}

// begin returns what begins a transaction.
func (t transaction) begin() string {
	if t.isolation == "" {
		return "begin; "
	}
	return "begin isolation level " + t.isolation + "; "
}
