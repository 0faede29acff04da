package interleave

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// apply inserts the mistake, or returns an error if the function does not have the text that the mutant expects.
func (m mutant) apply(ctx context.Context, conn *pgx.Conn) error {
	if m.sql != "" {
		_, err := conn.Exec(ctx, m.sql)
		return err
	}
	return pgtest.Mutate(ctx, conn, m.function, m.sound, m.broken)
}

var mutants = []mutant{
	{
		name: "add_job without its retry", function: "_gw_add_keyed_job", sound: "if added.id is not null then",
		broken: `
			if exists (select from "graphile_worker"._private_jobs as j where j.key = spec.job_key) or round > 1 then
			  return added;
			end if;
			if added.id is not null then`,
		where: "names", sessions: []string{"replace", "preserve"},
	},
	{
		name: "add_job without its retry, returning the existing row", function: "_gw_add_keyed_job",
		sound: "if added.id is not null then", broken: `
			if added.id is not null then
			  return added;
			end if;
			select j.* into added from "graphile_worker"._private_jobs as j where j.key = spec.job_key;
			if found then`,
		where: "names", sessions: []string{"replace", "preserve"},
	},
	{
		name: "add_job retires a row for which it has waited, without reading it again", function: "_gw_add_keyed_job",
		sound:  "if not waits and job_key_mode <> 'unsafe_dedupe' then",
		broken: "if job_key_mode <> 'unsafe_dedupe' then",
		where:  "ready", sessions: []string{"replace", "preserve"},
	},
	{
		name: "remove_job does not look for the key again", function: "remove_job", sound: "if not exists (",
		broken: "if true or not exists (",
		where:  "running", sessions: []string{"replace", "remove"},
	},
	{
		name: "add_job_once goes by what it has read before it holds the record", function: "add_job_once",
		sound: "held.job_id is null or held.kept_until <= clock_timestamp()", broken: "true",
		where: "empty", sessions: []string{"once", "once"},
	},
	{
		name: "calls that decide by a key do not lock their record", function: "_gw_hold_keyed_call",
		sound: "for update;", broken: ";",
		where: "once, over", sessions: []string{"once", "once"},
	},
	{
		name: "debounce_job does not lock the waiting job", function: "_gw_waiting_job",
		sound: "where j.key = job_key for update;", broken: "where j.key = job_key;",
		where: "debounced", sessions: []string{"debounce", "get_job"},
	},
	{
		name: "throttle_job does not lock the waiting job", function: "_gw_waiting_job",
		sound: "where j.key = job_key for update;", broken: "where j.key = job_key;",
		where: "throttled", sessions: []string{"throttle", "get_job"},
	},
	{
		name: "a retired job keeps an attempt", function: "_gw_retire", sound: "then 0 else 1 end",
		broken: "then 0 else 0 end",
		where:  "running", sessions: []string{"replace", "return"},
	},
	{
		name: "the first job of a queue to end frees it",
		sql: `
			create or replace function graphile_worker._gw_queue_locked_at(
			  queue_locked_at timestamptz, held_at timestamptz, ended bigint)
			  returns timestamptz language sql stable as $$ select null::timestamptz $$`,
		where: "running streak", sessions: []string{"complete by lease", "streak"},
	},
	{
		name: "renew_leases renews one job of several of a queue", function: "renew_leases",
		sound: "or (select true from", broken: "or true or (select true from",
		where: "running streak", sessions: []string{"renew", "streak"},
	},
	{
		name: "a job that has not started keeps its attempt", function: "force_unlock_workers",
		sound: "case when j.id = any (unstarted) then", broken: "case when false then",
		where: "running streak", sessions: []string{"unlock", "streak"},
	},
	{
		name: "complete_job without the lease", function: "_gw_complete_claim", sound: "_gw_locked_at(lease)",
		broken: "_gw_locked_at(null)",
		where:  "running", sessions: []string{"complete by lease", "renew"},
	},
	{
		name: "renew_leases without the lease", function: "renew_leases",
		sound: "and \"graphile_worker\"._gw_lease(l.locked_at) = leases[width_bucket(l.id, job_ids)]", broken: "",
		where: "running", sessions: []string{"renew", "renew"},
	},
	{
		name: "save_step without the lease", function: "save_step", sound: "_gw_is_held(j.locked_at, ",
		broken: "_gw_is_held(j.locked_at, null::bigint & ",
		where:  "running", sessions: []string{"step", "renew"},
	},
	{
		name: "save_step does not lock the job", function: "save_step", sound: "for no key update;", broken: ";",
		where: "running", sessions: []string{"step", "unlock + get_job + step elsewhere"},
	},
	{
		name: "the last step of a name counts", function: "save_step", sound: "where s.revision <> excluded.revision",
		broken: "where true",
		where:  "running", sessions: []string{"step", "same step"},
	},
	{
		name: "a replaced job keeps its steps", function: "job_steps", sound: "and s.revision = (",
		broken: "and s.revision <= (",
		where:  "running", sessions: []string{"step + return", "replace"},
	},
	{
		name: "a job that is requested again loses its steps", function: "_gw_keep_steps",
		sound: "set revision = _gw_keep_steps.revision", broken: "set revision = s.revision",
		where: "running", sessions: []string{"step", "dedupe"},
	},
	{
		name: "complete_job does not free the queue", function: "_gw_complete_claim",
		sound: "if ended is not null then", broken: "if false then",
		where: "running queue", sessions: []string{"complete", "get_job"},
	},
	{
		name: "a suspect that was replaced is claimed as one", function: "_gw_start_suspect",
		sound: "and s.job_queue_id = -2", broken: "",
		where: "suspect", sessions: []string{"replace in queue", "get_job_alone"},
	},
	{
		name: "a suspect overtakes its queue", function: "_gw_start_suspect", sound: "and not exists (",
		broken: "and true or false and not exists (",
		where:  "suspect", sessions: []string{"add first", "get_job_alone"},
	},
	{
		name: "cancel_jobs does not lock the jobs first", function: "cancel_jobs",
		sound: "order by j.id for update);", broken: ");",
		where: "ready", sessions: []string{"cancel", "get_job"},
	},
	{
		name: "cancel_jobs does not see what was added while it waited", function: "cancel_jobs",
		sound: "exit when cardinality(held)", broken: "exit when true or cardinality(held)",
		where: "throttled, running", sessions: []string{"throttle", "cancel"},
	},
	{
		name: "cleanup does not look again whether a task is used", function: "_gw_collect_names",
		sound:  "where t.id = any (ids)\n       and not exists",
		broken: "where t.id = any (ids)\n       and true or false and not exists",
		where:  "names", sessions: []string{"add queue", "cleanup"},
	},
	{
		name: "cleanup without the locks of task names", function: "_gw_collect_names",
		sound: "_gw_name_lock('task', u.identifier)", broken: "_gw_name_lock('task', u.identifier) + 1000000",
		where: "names", sessions: []string{"replace", "cleanup"},
	},
	{
		name: "a recovery does not lock the worker", function: "_gw_recover_workers",
		sound: "order by w.id\n       for update skip locked", broken: "order by w.id",
		where: "dead queue", sessions: []string{"beat", "heartbeat"},
	},
	{
		name: "a late outcome holds the row of a freed job, and notifies nobody", function: "_gw_complete_claim",
		sound: "perform \"graphile_worker\"._gw_wake_for(job_ids);", broken: "",
		where: "busy", sessions: []string{"complete", "unlock"},
	},
	{
		name: "a free queue is not announced", function: "_gw_queue_freed",
		sound: "perform \"graphile_worker\"._gw_wake(1)", broken: "perform 1",
		where: "running queue", sessions: []string{"complete", "schedule"},
	},
	{
		name: "a free queue is announced too early", sql: `
			drop trigger _gw_queue_freed on graphile_worker._private_job_queues;
			create trigger _gw_queue_freed after update of locked_at on graphile_worker._private_job_queues
			  for each row when (new.locked_at is null) execute function graphile_worker._gw_queue_freed()`,
		where: "busy queue", sessions: []string{"complete", "add queue"},
	},
	{
		name: "run_cron makes a schedule known that was just removed", function: "run_cron",
		sound: "and (e.active_since = '-infinity'", broken: "and (true",
		where: "scheduled", sessions: []string{"run_cron", "unschedule"},
	},
	{
		name: "run_cron does not lock the recurring jobs that it runs", function: "run_cron",
		sound: "_gw_lock_crons(due, missing, now)", broken: "_gw_lock_crons('{}', missing, now)",
		where: "scheduled", sessions: []string{"tick", "tick"},
	},
	{
		name: "a schedule is removed without the lock of its runs", function: "cron_unschedule",
		sound: "perform from \"graphile_worker\"._private_known_crontabs as k where k.identifier = identifier for update;", broken: "",
		where: "scheduled", sessions: []string{"run_cron", "unschedule"},
	},
}
