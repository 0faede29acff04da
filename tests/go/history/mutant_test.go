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
					t.Logf("after %v, seed %d, %d calls: %s", time.Since(started).Round(time.Millisecond), seed, r.made.Load(), violations[i])
					return
				}
				if time.Since(started) > enough {
					t.Fatalf("in %v no violation of %s was found; other violations: %v", enough, m.rule, violations[max(0, len(violations)-2):])
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
}

// profile returns who takes part in the search.
func (m mutant) profile() profile {
	if m.rule == aLimitHolds {
		return limited
	}
	return crowd
}

var mutants = []mutant{
	{
		name: "a claim that counts one slot too few", rule: aLimitHolds, functions: []string{"_gw_lane_rooms"},
		sound: "n.width - (select", broken: "n.width + 1 - (select",
	},
	{
		name: "a claim that does not lock lanes", rule: aLimitHolds, functions: []string{"_gw_lock_lanes"},
		sound: "l.id = any (g.lanes) for no key update skip locked", broken: "l.id = any (g.lanes)",
	},
	{
		name: "add_job without its retry", rule: noRequestIsLost, functions: []string{"_gw_add_keyed_job"},
		sound: "if added.id is not null then", broken: `
			if exists (select from graphile_worker._private_jobs as j where j.key = job_key) or round > 1 then
			  return added;
			end if;
			if added.id is not null then`,
	},
	{
		name: "add_job without its retry, returning the existing row", rule: noRequestIsLost, functions: []string{"_gw_add_keyed_job"},
		sound: "if added.id is not null then", broken: `
			if added.id is not null then
			  return added;
			end if;
			select j.* into added from graphile_worker._private_jobs as j where j.key = job_key;
			if found then`,
	},
	{
		name: "complete without the lease", rule: aLeaseIsOneClaim, functions: []string{"complete_job", "complete_job_batch"},
		sound: "_gw_is_held(j.locked_at, ", broken: "_gw_is_held(j.locked_at, null::bigint & ",
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
		name: "a batch without order", rule: urgentFirst, sql: inDisorder,
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
	        get_job_batch.now) as b
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
