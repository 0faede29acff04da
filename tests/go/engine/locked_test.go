package engine

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// everything are statements after which claims, heartbeats and sweeps have something to do everywhere.
var everything = []string{
	"select gw.set_setting('dead_after', '1 minute')",
	"create or replace function gw._gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$",
	"select gw.register_worker(w) from unnest('{keeper,dead,w,ahead}'::text[]) as w",
	"select gw.keep_task('c', interval '1 day')",
	"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 2)",
	"select gw.set_limit('m', tasks => '{a,b}', max_running => 9)",
	`select gw.add_job(t, json_build_object('c', n % 2)) from unnest('{a,b,c}'::text[]) as t, generate_series(1, 9) as n`,
	"select gw.add_job('c', to_json(n), 'q' || n % 4) from generate_series(1, 12) as n",
	"select gw.add_job('c', '1', 'paused', priority => 5)",
	"select gw.add_job('d', to_json(n)) from generate_series(1, 3) as n",
	"select gw.add_job('e', to_json(n)) from generate_series(1, 3) as n",
	"select gw.get_job_batch('dead', batch_size => 9)", "select gw.get_job_batch('dead', '{c}', 6, queue_batch => 2)",
	"select gw.get_job_batch('w', '{c}', 6)", "select gw.get_job_batch('w', '{a}', 9)",
	"select gw.set_limit('dropped', tasks => '{f}', by => 'payload:c', max_running => 1)",
	`select gw.add_job('f', '{"c":1}') from generate_series(1, 3)`,
	"select gw.get_job_batch('w', '{f}', 9)", "select gw.drop_limit('dropped')", "select gw.pause('d')",
	"select gw.add_job('g', to_json(n)) from generate_series(1, 3) as n",
	"select gw.set_limit('n', tasks => '{g}', max_running => 9)", "select gw.add_job('g', to_json(n)) from generate_series(4, 6) as n",
	"select gw.pause(queue => 'paused')", "select gw.pause('e', until => clock_timestamp() + interval '1 ms')",
	"select gw.pause(queue => 'q1', until => clock_timestamp() + interval '1 ms')",
	"select gw.pause(limit_name => 'm', until => clock_timestamp() + interval '1 ms')",
	"update gw._private_jobs set job_queue_id = null where task_id = (select id from gw._private_tasks where identifier = 'd')",
	"update gw._private_job_queues set locked_at = locked_at - interval '2 hours' where locked_by = 'pause'",
	"update gw._gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes' where id = 'dead'",
	"update gw._private_jobs set locked_at = locked_at - interval '5 hours' where locked_by = 'dead'",
	"update gw._private_job_queues set locked_at = locked_at - interval '5 hours' where locked_by = 'dead'",
	"insert into gw._gw_suspects (job_id, queue_name, strict) select j.id, j.queue_name, false from gw.jobs as j where j.locked_by is null and j.task_identifier = 'c' order by j.id limit 2",
	"update gw._private_jobs set job_queue_id = -2 where id in (select job_id from gw._gw_suspects)",
	"select gw.cancel_jobs(array(select id from gw._private_jobs where locked_by = 'w'))",
	"update gw._private_jobs set job_queue_id = -77 where id = (select max(id) from gw._private_jobs where is_available and job_queue_id <= -16)",
	"select gw.add_job('c', '1', 'orphaned', job_key => 'of an orphaned queue')", "select gw.remove_job('of an orphaned queue')",
	"update gw._private_job_queues set locked_at = now() - interval '5 hours', locked_by = 'dead' where queue_name = 'orphaned'",
	"insert into gw._gw_suspects (job_id) values (1000001)", // has ended
	"insert into gw._gw_cancels (job_id, worker_id) values (1000001, 'w')",
	"select gw.add_job('c', '\"retired\"')", "select gw.add_job('c', '\"failed\"')",
	"update gw._private_jobs set attempts = max_attempts + 1 where payload::text = '\"retired\"'",
	"update gw._private_jobs set attempts = max_attempts, job_queue_id = -2 where payload::text = '\"failed\"'",
	"insert into gw._gw_suspects (job_id) select id from gw._private_jobs where payload::text = '\"failed\"'",
	"update gw._gw_workers set last_seen_at = clock_timestamp() + interval '1 hour' where id = 'ahead'",
	"update gw._gw_turns set last_at = 'epoch'",
	"update gw._gw_workers set last_seen_at = clock_timestamp(), beating_since = clock_timestamp() - interval '2 minutes' where id = 'keeper'",
}

// Claims, heartbeats and sweeps wait for nobody who has rows locked, such as an operator's statement in an open
// transaction.
func TestNothingWaitsForLockedRows(t *testing.T) {
	const (
		unseen = "create or replace function gw._gw_is_free(locker xid, snapshot txid_snapshot) returns boolean language sql as 'select true'"
		jobs   = "select gw.add_job('c', to_json(n)) from generate_series(1, 9) as n"
		queued = "select gw.add_job('c', to_json(n), 'q' || n) from generate_series(1, 3) as n"
		claim  = "select gw.get_job_batch('w', '{c}', 2)"
	)
	for name, world := range map[string][]string{
		"that they see":                     everything,
		"that are locked after their look":  append([]string{unseen}, everything...),
		"in queues, without limits":         {unseen, jobs, queued, claim},
		"without queues and without limits": {unseen, jobs, claim},
	} {
		t.Run(name, func(t *testing.T) { newPlay(t, world...).waitsForNone() })
	}
}

// waitsForNone makes each call while somebody has rows locked, and fails the test if one waits.
func (p *play) waitsForNone() {
	p.t.Helper()
	calls := []string{
		"select gw.get_job_batch('v', batch_size => 1)", "select gw.get_job_batch('v', batch_size => 30)",
		"select gw.get_job_batch('v', '{c}', 5, queue_batch => 3)", "select gw.get_job_batch('v', '{a}', 5)",
		"select gw.get_job_batch('v', '{c}', 1)", "select gw.get_job_batch('v', '{e}', 5)",
		"select gw.get_job_batch('v', '{f}', 5)", "select gw.get_job_batch('v', '{g}', 5)", "select gw.get_job_alone('v')",
		"select gw.make_room()", "select gw.heartbeat('keeper')", "select gw.stale_sweep()", "select gw.reset_stale_locks()",
		"select gw.renew_leases('w', array_agg(id), array_agg(gw._gw_lease(locked_at)), interval '1 microsecond') from gw._private_jobs where locked_by = 'w'",
		"select gw.next_run_at(null)", "select gw.fall_asleep('w', null, interval '1 minute')",
		// What a heartbeat does; it notes their errors.
		"select gw._gw_drop_ended()", "select gw._gw_recover_workers('1 minute')", "select gw._gw_sweep_limits()",
		"select gw._gw_sweep_pauses()",
	}
	for _, c := range []struct {
		rows  string
		calls []string
	}{
		{"_private_jobs", append(calls[:len(calls):len(calls)], "select gw.set_limit('new', tasks => '{c}', max_running => 9)")},
		{"_private_job_queues", calls}, {"_gw_limits", calls}, {"_gw_pauses", calls}, {"_gw_suspects", calls}, {"_gw_turns", calls},
		{"_gw_workers where id in ('dead', 'ahead')", calls}, {"_gw_cancels", calls},
		{"_gw_lanes where task_id = (select id from gw._private_tasks where identifier = 'f')", calls}, // nobody has a lock for these lanes
	} {
		holder := p.begin(pgx.TxOptions{}, "select from gw."+c.rows+" for update")
		for _, call := range c.calls {
			if waits := p.waits(call); waits != "" {
				p.t.Errorf("while somebody has the rows of %s, %s waits: %s", c.rows, call, waits)
			}
		}
		if err := holder.Rollback(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// waits returns what a call waits for, if it does; what it does is rolled back.
func (p *play) waits(call string) string {
	p.t.Helper()
	tx, err := p.conn.Begin(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(p.t.Context())) }()
	if _, err := tx.Exec(p.t.Context(), "set local lock_timeout = '500 ms'"); err != nil {
		p.t.Fatal(err)
	}
	begin := time.Now()
	_, err = tx.Exec(p.t.Context(), schema(call))
	if codeOf(err) == "55P03" {
		return err.Error()
	} else if err != nil {
		p.t.Fatalf("%s after %v: %v", call, time.Since(begin), err)
	}
	return ""
}
