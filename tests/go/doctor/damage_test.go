package doctor_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

var (
	damageSeed = flag.Uint64("damage.seed", 1, "the first `seed` of random damage")
	damageRuns = flag.Int("damage.runs", 12, "the `number` of worlds with random damage")
)

// theWorld has waiting jobs of each kind: plain, in queues, under limits of each kind, suspect, recurring; jobs have ended before.
const theWorld = `
	select set_limit('keys', '{a}', by => 'payload:k', max_running => 1, total_running => 2),
	       set_limit('rate', '{b}', rate => 1000, per => '1 second'),
	       set_limit('fair', '{f}', by => 'payload:k', max_running => 2, fair => true);
	select keep_task('a', '1 day'), cron_schedule('tick', '* * * * *', 'c', fill => '10m');
	select register_worker('w', '{a,b,c,f}'), register_worker('dead', '{a,b,c,f}');
	select add_job(t, json_build_object('k', n % 3), queue_name => case when n % 4 = 0 then 'q' || n % 2 end)
	  from unnest('{a,b,c,f}'::text[]) as t, generate_series(1, 8) as n;
	select count(complete_job('w', j.id)) from get_job_batch('w', batch_size => 8) as j;
	select count(*) from get_job_batch('dead', batch_size => 5) as j;
	select count(*) from get_job_batch('node', '{c}', batch_size => 1) as j;
	update _gw_workers set last_seen_at = now() - interval '1 hour' where id = 'dead';
	update _private_jobs set locked_at = locked_at - interval '1 hour' where locked_by = 'dead';
	update _private_job_queues set locked_at = locked_at - interval '1 hour' where locked_by = 'dead';
	update _private_jobs set locked_at = locked_at - interval '10 minutes' where locked_by = 'node';
	update _private_job_queues set locked_at = locked_at - interval '10 minutes' where locked_by = 'node';
	update _gw_schedules set active_since = now() - interval '1 hour'; update _private_known_crontabs set known_since = now() - interval '1 hour'`

// damages are what people, clocks and dumps do to a queue. Each is one transaction.
var damages = map[string]string{
	"no rows of turns":             "truncate _gw_turns",
	"no turn of recovery":          "delete from _gw_turns where name = 'recovery'",
	"no row of limit changes":      "truncate _gw_limit_changes",
	"no gates":                     "truncate _gw_gates",
	"no gates of one limit":        "delete from _gw_gates where limit_id = (select min(id) from _gw_limits)",
	"no lanes":                     "truncate _gw_lanes",
	"no ends of gates":             "truncate _gw_gate_ends",
	"no limits":                    "truncate _gw_limits",
	"a limit less":                 "delete from _gw_limits where name = 'keys'",
	"no queues":                    "truncate _private_job_queues",
	"a queue less":                 "delete from _private_job_queues where queue_name = 'q0'",
	"no pauses":                    "select pause(queue => 'q0'); truncate _gw_pauses",
	"no pauses of tasks":           "select pause('a'), pause('c'); delete from _gw_pauses",
	"no suspects":                  "update _private_jobs set job_queue_id = -2 where id = (select min(id) from _private_jobs where is_available)",
	"no partitions":                "drop table _gw_ended_0, _gw_ended_1, _gw_ended_2",
	"no workers":                   "truncate _gw_workers",
	"no small tables":              "truncate _gw_queued_lanes, _gw_cancels, _gw_recovery, _gw_claim_cursors, _gw_sleepers, _gw_job_context, _gw_steps, _gw_samples, _gw_expected, _gw_long_attempts, _gw_cron_patterns, _gw_mends, _gw_audit, _gw_kept_tasks",
	"no ledger":                    "truncate migrations",
	"workers seen tomorrow":        "update _gw_workers set last_seen_at = now() + interval '1 day', beating_since = now() + interval '1 day'",
	"locks of tomorrow":            "update _private_jobs set locked_at = now() + interval '1 day' where locked_at is not null; update _private_job_queues set locked_at = now() + interval '1 day' where locked_at is not null",
	"rates of tomorrow":            "update _gw_gates set theoretic_at = now() + interval '1 day', served_at = now() + interval '1 day'; update _gw_limits set theoretic_at = now() + interval '1 day'",
	"turns of tomorrow":            "update _gw_turns set last_at = now() + interval '1 day'",
	"cron of tomorrow":             "update _private_known_crontabs set last_execution = now() + interval '1 day'",
	"cron behind":                  "update _private_known_crontabs set known_since = now() - interval '60 days', last_execution = now() - interval '60 days'; update _gw_schedules set active_since = now() - interval '60 days', fill = '60 days', last_run = null",
	"a schedule of tomorrow":       "update _gw_schedules set active_since = now() + interval '1 day'",
	"a queue of a gone Node":       "update _private_job_queues set locked_at = now() - interval '10 minutes', locked_by = 'nobody'",
	"a queue held without a job":   "update _private_job_queues set locked_at = now() - interval '10 seconds', locked_by = 'w'",
	"a pause of everything":        "select pause(); update _gw_pauses set paused_at = now() - interval '2 days'",
	"a pause of a task":            "select pause('c'); update _gw_pauses set paused_at = now() - interval '2 days'",
	"a pause of a queue":           "update _private_job_queues set locked_at = null, locked_by = null; select pause(queue => 'q0'); update _gw_pauses set paused_at = now() - interval '2 days'",
	"a pause of a limit":           "select pause(limit_name => 'keys'); update _gw_pauses set paused_at = now() - interval '2 days'",
	"closed lanes":                 "update _gw_gates set closed_until = now() + interval '3 days' where limit_id = (select id from _gw_limits where name = 'rate')",
	"another body of a function":   "create or replace function next_run_at(task_identifiers text[] default null) returns timestamptz language sql as 'select null::timestamptz'",
	"a function less":              "drop function get_job_batch",
	"an end of pauses that raises": "create function refuse() returns trigger language plpgsql as 'begin raise ''no''; end'; create trigger refuse before insert on _gw_recovery for each row execute function refuse()",
}

// A due job of a task that a worker serves starts after some heartbeats and sweeps, or doctor() has statements and commands after which
// it does, for the owner and for an admin, whatever was damaged.
func TestDoctorEndsWhateverHoldsJobsBack(t *testing.T) {
	for name := range damages {
		for _, admin := range []bool{false, true} {
			if admin && strings.Contains(name, "function") {
				continue // only the owner replaces functions
			}
			t.Run(fmt.Sprintf("%s, admin %t", name, admin), func(t *testing.T) { newDamaged(t, admin).check(name) })
		}
	}
}

func TestDoctorEndsRandomDamage(t *testing.T) {
	names := slices.DeleteFunc(slices.Sorted(mapsKeys(damages)),
		func(name string) bool { return strings.Contains(name, "function") })
	for seed := *damageSeed; seed < *damageSeed+uint64(*damageRuns); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 0))
			var drawn []string
			for range 2 + draw.IntN(3) {
				drawn = append(drawn, names[draw.IntN(len(names))])
			}
			newDamaged(t, draw.IntN(2) == 0).check(drawn...)
		})
	}
}

func mapsKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

type damaged struct {
	t        *testing.T
	url      string
	conn     *pgx.Conn
	admin    string // the role that asks doctor() and follows it; empty: the owner
	migrator *migrate.Migrator
}

func newDamaged(t *testing.T, admin bool) *damaged {
	t.Helper()
	d := &damaged{t: t, url: pgtest.Database(t)}
	d.migrator = migrator(t, d.url)
	if admin {
		d.admin = pgtest.Role(t, pgtest.Pool(t, d.url))
		if _, err := d.migrator.Grant(t.Context(), migrate.Grants{Admins: []string{d.admin}}); err != nil {
			t.Fatal(err)
		}
	}
	d.conn = session(t, d.url, "set search_path = graphile_worker; set client_min_messages = error")
	return d
}

func (d *damaged) check(names ...string) {
	d.t.Helper()
	d.t.Logf("damage: %s", strings.Join(names, ", "))
	d.exec(theWorld)
	for _, name := range names {
		if _, err := d.conn.Exec(d.t.Context(), damages[name]); err != nil {
			d.t.Logf("%s: %v", name, err) // another one has damaged what it needs
		}
	}
	d.exec("select add_job('c', queue_name => 'late'), add_job('b')")
	d.work()
	var done []string
	for range 3 { // a remedy may let another finding come out
		if len(d.waiting()) == 0 {
			return
		}
		found := false
		for _, command := range d.commands() {
			if !slices.Contains(done, command) {
				done, found = append(done, command), true
				d.follow(command)
			}
		}
		if !found {
			break
		}
		d.work()
	}
	if left := d.waiting(); len(left) > 0 {
		d.t.Errorf("these do not start:\n%s\ndone: %q\ndoctor: %s", strings.Join(left, "\n"), done, d.findings())
	}
}

// work lets a minute pass for a live worker: heartbeats, sweeps, ticks of cron, claims and completions.
func (d *damaged) work() {
	d.t.Helper()
	for range 6 {
		for _, call := range []string{
			"select register_worker('w', '{a,b,c,f}') where not exists (select from _gw_workers where id = 'w'); select set_setting('dead_after', '1 second')",
			"update _gw_workers set beating_since = greatest(pg_postmaster_start_time(), now() - interval '1 hour') where id = 'w'",
			"update _gw_workers set last_seen_at = last_seen_at - interval '1 minute' where id <> 'w' and last_seen_at <= clock_timestamp()",
			"select count(*) from heartbeat('w')",
			"update _gw_turns set last_at = last_at - interval '1 minute' where last_at <= now()",
			"select stale_sweep()", "select tidy()",
			"select count(*) from run_cron('[]', now() - interval '2 minutes', worker_id => 'w')",
			"update _private_jobs set run_at = least(run_at, now()) where run_at < now() + interval '1 hour'", // back-offs and rates pass
			`do $$ begin while (select count(*) from get_job_alone('w') as j where complete_job('w', j.id)) > 0 loop end loop; end $$`,
			`do $$ begin while (select count(*) from get_job_batch('w', batch_size => 5) as j where complete_job('w', j.id)) > 0 loop end loop; end $$`,
		} {
			if _, err := d.conn.Exec(d.t.Context(), call); err != nil {
				d.t.Logf("%s: %v", call, err) // the jobs wait; doctor says why
			}
		}
	}
	d.exec("update _private_jobs set run_at = run_at - interval '10 minutes', updated_at = updated_at - interval '10 minutes' where is_available")
}

// waiting returns the due jobs of served tasks that have not started, and the recurring job if it has not been added.
func (d *damaged) waiting() []string {
	return d.texts(`
		select format('job %s of %s: queue %s; %s', j.id, t.identifier, j.job_queue_id,
		              (select string_agg(w.reason, ', ') from why(j.id) as w))
		  from _private_jobs as j join _private_tasks as t on t.id = j.task_id
		 where j.is_available and j.run_at <= now() and t.identifier = any ('{a,b,c,f}')
		union all
		select 'the schedule'
		  from _private_known_crontabs as k join _gw_schedules as s on s.identifier = k.identifier
		 where greatest(k.last_execution, s.active_since) not between now() - interval '3 minutes' and now()`)
}

func (d *damaged) findings() string {
	return strings.Join(d.texts("select d.finding || ' ' || d.subject || ': ' || d.detail || ' -> ' || coalesce(d.command, '-') from doctor() as d"), "\n")
}

func (d *damaged) commands() []string {
	doctor := "select d.command from graphile_worker.doctor() as d where d.severity <> 'info' and d.command is not null"
	if d.admin == "" {
		return d.texts(doctor)
	}
	d.exec("set role " + d.admin)
	defer d.exec("reset role")
	return d.texts(strings.ReplaceAll(doctor, "graphile_worker.", "graphile_worker_api."))
}

func (d *damaged) follow(command string) {
	d.t.Helper()
	if command == "gw-migrate repair" {
		if _, err := d.migrator.Repair(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	if d.admin != "" {
		d.exec("set role " + d.admin)
		defer d.exec("reset role")
	}
	if _, err := d.conn.Exec(d.t.Context(), command); err != nil {
		d.t.Logf("%s: %v", command, err)
	}
}

func (d *damaged) exec(sql string) {
	d.t.Helper()
	if _, err := d.conn.Exec(context.WithoutCancel(d.t.Context()), sql); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
}

func (d *damaged) texts(sql string) []string {
	d.t.Helper()
	rows, _ := d.conn.Query(d.t.Context(), sql, pgx.QueryExecModeExec)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
	return texts
}
