package history

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// enough is the time after which the search for a violation of a broken rule ends.
const enough = 3 * time.Minute

func TestABrokenRuleIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("tests the checker, which is the same for each version of PostgreSQL")
	}
	for _, m := range pgtest.Mutants(mutants) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			for seed := *seedFlag; ; seed++ {
				r := newRun(t, m.profile(), seed, 2000)
				if err := m.breakRule(t.Context(), r.url); err != nil {
					t.Fatal(err)
				}
				events, end, err := r.history(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				violations := check(events, end, r.profile.limits...).violations
				if i := slices.IndexFunc(violations, func(v violation) bool { return v.rule == m.rule }); i >= 0 {
					t.Logf("after %v, seed %d, %d calls: %s", time.Since(started).Round(time.Millisecond), seed,
						r.made.Load(), violations[i])
					return
				}
				if time.Since(started) > enough {
					t.Fatalf("in %v no violation of %s was found; other violations: %v", enough, m.rule,
						violations[max(0, len(violations)-2):])
				}
			}
		})
	}
}

// mutant is a way to break a rule in the database.
type mutant struct {
	name string
	rule rule // that the check must report as broken
	sql  string

	functions     []string // in each of these
	sound, broken string   // a part of its body, and the replacement

	transacts bool // it breaks what transactions promise that complete jobs
}

// profile returns who takes part in the search.
func (m mutant) profile() profile {
	if m.transacts {
		return transacted
	}
	switch m.rule {
	case aLimitHolds:
		return limited
	case onceIsOnce, debounceWaits, throttleSpaces, backoffIsKept:
		return decided
	}
	return crowd
}

var mutants = []mutant{
	{
		name: "a claim that counts one slot too few", rule: aLimitHolds, functions: []string{"_gw_gate_rooms"},
		sound: "else l.max_running end", broken: "else l.max_running + 1 end",
	},
	{
		name: "a claim that does not lock limits", rule: aLimitHolds, functions: []string{"_gw_take_limits"},
		sound: "order by l.id\n       for no key update skip locked", broken: "order by l.id",
	},
	{
		name: "add_job without its retry", rule: noRequestIsLost, functions: []string{"_gw_add_keyed_job"},
		sound: "if added.id is not null then", broken: `
			if exists (select from graphile_worker._private_jobs as j where j.key = spec.job_key) or round > 1 then
			  return added;
			end if;
			if added.id is not null then`,
	},
	{
		name: "add_job without its retry, returning the existing row", rule: noRequestIsLost,
		functions: []string{"_gw_add_keyed_job"},
		sound:     "if added.id is not null then", broken: `
			if added.id is not null then
			  return added;
			end if;
			select j.* into added from graphile_worker._private_jobs as j where j.key = spec.job_key;
			if found then`,
	},
	{
		name: "complete without the lease", rule: aLeaseIsOneClaim, functions: []string{"complete_job_batch"},
		sound: "_gw_locked_at(leases[1])", broken: "_gw_locked_at(null)",
	},
	{
		name: "return without the retirement", rule: deadStaysDead, functions: []string{"_gw_retire"},
		sound: "then 0 else 1 end", broken: "then 0 else 0 end",
	},
	{
		// Whatever claims look like: a queue that somebody locks stays free.
		name: "a claim without the queue lock", rule: aQueueIsSerial, sql: `
			create function graphile_worker.stay_free() returns trigger language plpgsql as 'begin return null; end';
			create trigger stay_free before update on graphile_worker._private_job_queues
			  for each row when (old.locked_at is null and new.locked_at is not null)
			  execute function graphile_worker.stay_free()`,
	},
	{
		name: "a queue that is free when one of the jobs claimed together has ended", rule: aQueueIsSerial,
		functions: []string{"_gw_queue_locked_at"},
		sound:     "case when ", broken: "case when false and ",
	},
	{
		name: "a batch without order", rule: urgentFirst, sql: inDisorder,
	},
	{
		name: "add_job_once that goes by what it has read before it holds the record", rule: onceIsOnce,
		functions: []string{"add_job_once"},
		sound:     "held.job_id is null or held.kept_until <= clock_timestamp()", broken: "true",
	},
	{
		name: "add_job_once without the lock of the record", rule: onceIsOnce,
		functions: []string{"_gw_hold_keyed_call"},
		sound:     "for update;", broken: ";",
	},
	{
		name: "add_job_once that compares the end of the interval the wrong way", rule: onceIsOnce,
		functions: []string{"add_job_once"},
		sound:     "(held.kept_until > clock_timestamp()) is not true",
		broken:    "(held.kept_until < clock_timestamp()) is not true",
	},
	{
		name: "add_job_once that returns the job under the key", rule: onceIsOnce, functions: []string{"add_job_once"},
		sound:  "select held.job_id,",
		broken: `select coalesce((select k.id from "graphile_worker"._private_jobs as k where k.key = held.key), held.job_id),`,
	},
	{
		name: "a sweep that forgets calls of add_job_once within the interval", rule: onceIsOnce,
		functions: []string{"_gw_drop_keyed_calls"},
		sound:     "where c.kept_until < now() - interval '1 minute'",
		broken:    "where c.began_at < now() - interval '50 milliseconds'",
	},
	{
		name: "debounce_job that counts max_wait from the last call", rule: debounceWaits,
		functions: []string{"debounce_job"},
		sound:     "held.began_at + max_wait", broken: "at + max_wait",
	},
	{
		name: "debounce_job that does not see that its job has started", rule: debounceWaits,
		functions: []string{"debounce_job"},
		sound:     "waiting.attempts = 0", broken: "waiting.attempts >= 0",
	},
	{
		name: "debounce_job without the lock of the waiting job", rule: debounceWaits,
		functions: []string{"_gw_waiting_job"},
		sound:     "where j.key = job_key for update;", broken: "where j.key = job_key;",
	},
	{
		name: "debounce_job that shortens a back-off", rule: backoffIsKept, functions: []string{"debounce_job"},
		sound: "case when waiting.attempts > 0 and isfinite(waiting.run_at) then waiting.run_at end", broken: "null",
	},
	{
		name: "throttle_job without the lock of the record", rule: throttleSpaces,
		functions: []string{"_gw_hold_keyed_call"},
		sound:     "for update;", broken: ";",
	},
	{
		name: "throttle_job without the interval", rule: throttleSpaces, functions: []string{"throttle_job"},
		sound: "case when held.job_id is not null then least(held.began_at, clock_timestamp() + 100 * every) + every end", broken: "null",
	},
	{
		name: "throttle_job that moves the waiting job", rule: throttleSpaces, functions: []string{"throttle_job"},
		sound: "(waiting.id = held.job_id) is not true", broken: "true",
	},
	{
		name: "throttle_job that shortens a back-off", rule: backoffIsKept, functions: []string{"throttle_job"},
		sound: "waiting.attempts > 0", broken: "false",
	},
	{
		name: "a sweep that forgets the last job of throttle_job", rule: throttleSpaces,
		functions: []string{"_gw_drop_keyed_calls"},
		sound:     "where c.kept_until < now() - interval '1 minute'", broken: "where c.began_at < now()",
	},
	{
		name: "a transaction that returns its jobs in place of completing them", rule: nothingRunsTwice,
		functions: []string{"_gw_complete_all"},
		transacts: true, sound: "completed := array(select c.id from ", broken: `
			perform from "graphile_worker".return_job_batch(worker_id, job_ids, leases);
			completed := job_ids;
			results := array(select to_json(c.id) from `,
	},
}

// inDisorder wraps get_job_batch in a function that returns its rows in another order.
const inDisorder = `
	do $do$
	declare
	  arguments text := pg_get_function_arguments(p.oid) from pg_proc as p where p.oid = 'graphile_worker.get_job_batch'::regproc;
	  result    text := pg_get_function_result(p.oid) from pg_proc as p where p.oid = 'graphile_worker.get_job_batch'::regproc;
	begin
	  create schema sound;
	  alter function graphile_worker.get_job_batch set schema sound;
	  execute format($f$
	    create function graphile_worker.get_job_batch(%s) returns %s language plpgsql as $body$
	    #variable_conflict use_column
	    begin
	      return query
	      select b.* from sound.get_job_batch(
	        get_job_batch.worker_id, get_job_batch.task_identifiers, get_job_batch.batch_size, get_job_batch.forbidden_flags,
	        get_job_batch.now, queue_batch => get_job_batch.queue_batch) as b
	       order by md5(b.id::text);
	    end $body$ $f$, arguments, result);
	end
	$do$`

// breakRule breaks the rule in this database. It returns an error if the functions differ from what the mutant expects.
func (m mutant) breakRule(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if m.sql != "" {
		_, err := conn.Exec(ctx, m.sql)
		return err
	}
	for _, function := range m.functions {
		if err := pgtest.Mutate(ctx, conn, function, m.sound, m.broken); err != nil {
			return err
		}
	}
	return nil
}
