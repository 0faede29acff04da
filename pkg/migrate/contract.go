package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// contract lists the objects that our functions and Node workers use in a schema at Graphile Worker's revisions 18 to
// 20, one line for each row of contractQuery. The schema may have more.
const contract = `
column _private_job_queues.id integer generated
column _private_job_queues.is_available boolean computed
column _private_job_queues.locked_at timestamp with time zone
column _private_job_queues.locked_by text
column _private_job_queues.queue_name text
column _private_jobs.attempts smallint
column _private_jobs.created_at timestamp with time zone
column _private_jobs.flags jsonb
column _private_jobs.id bigint generated
column _private_jobs.is_available boolean computed
column _private_jobs.job_queue_id integer
column _private_jobs.key text
column _private_jobs.last_error text
column _private_jobs.locked_at timestamp with time zone
column _private_jobs.locked_by text
column _private_jobs.max_attempts smallint
column _private_jobs.payload json
column _private_jobs.priority smallint
column _private_jobs.revision integer
column _private_jobs.run_at timestamp with time zone
column _private_jobs.task_id integer
column _private_jobs.updated_at timestamp with time zone
column _private_known_crontabs.identifier text
column _private_known_crontabs.known_since timestamp with time zone
column _private_known_crontabs.last_execution timestamp with time zone
column _private_tasks.id integer generated
column _private_tasks.identifier text
column job_spec.flags text[]
column job_spec.identifier text
column job_spec.job_key text
column job_spec.max_attempts smallint
column job_spec.payload json
column job_spec.priority smallint
column job_spec.queue_name text
column job_spec.run_at timestamp with time zone
column jobs.attempts smallint
column jobs.created_at timestamp with time zone
column jobs.flags jsonb
column jobs.id bigint
column jobs.key text
column jobs.last_error text
column jobs.locked_at timestamp with time zone
column jobs.locked_by text
column jobs.max_attempts smallint
column jobs.priority smallint
column jobs.queue_name text
column jobs.revision integer
column jobs.run_at timestamp with time zone
column jobs.task_identifier text
column jobs.updated_at timestamp with time zone
column migrations.breaking boolean
column migrations.id integer
column migrations.ts timestamp with time zone
function add_job(identifier text, payload json, queue_name text, run_at timestamp with time zone, max_attempts integer, job_key text, priority integer, flags text[], job_key_mode text) returns _private_jobs
function add_jobs(specs job_spec[], job_key_preserve_run_at boolean) returns SETOF _private_jobs
function complete_jobs(job_ids bigint[]) returns SETOF _private_jobs
function force_unlock_workers(worker_ids text[]) returns void
function permanently_fail_jobs(job_ids bigint[], error_message text) returns SETOF _private_jobs
function remove_job(job_key text) returns _private_jobs
function reschedule_jobs(job_ids bigint[], run_at timestamp with time zone, priority integer, attempts integer, max_attempts integer) returns SETOF _private_jobs
index jobs_main_index on _private_jobs
sequence jobs_id_seq1
unique _private_job_queues (id)
unique _private_job_queues (queue_name)
unique _private_jobs (id)
unique _private_jobs (key)
unique _private_known_crontabs (identifier)
unique _private_tasks (id)
unique _private_tasks (identifier)
unique migrations (id)
`

const contractQuery = `
with s as (select n.oid from pg_catalog.pg_namespace as n where n.nspname = $1)
select 'column ' || c.relname || '.' || a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
       || case when a.attidentity <> '' then ' generated'
               when a.attgenerated <> '' then ' computed'
               else '' end
  from pg_catalog.pg_class as c
  join pg_catalog.pg_attribute as a on a.attrelid = c.oid
 where c.relnamespace = (select s.oid from s)
   and c.relkind in ('r', 'p', 'v', 'c')
   and a.attnum > 0
   and not a.attisdropped
union all
select 'function ' || p.proname || '('
       || replace(pg_catalog.pg_get_function_identity_arguments(p.oid), $2, '') || ') returns '
       || replace(pg_catalog.pg_get_function_result(p.oid), $2, '')
  from pg_catalog.pg_proc as p
 where p.pronamespace = (select s.oid from s)
   and p.prokind = 'f'
union all
select 'index ' || x.relname || ' on ' || c.relname
  from pg_catalog.pg_index as i
  join pg_catalog.pg_class as x on x.oid = i.indexrelid
  join pg_catalog.pg_class as c on c.oid = i.indrelid
 where x.relnamespace = (select s.oid from s)
union all
select 'sequence ' || c.relname
  from pg_catalog.pg_class as c
 where c.relnamespace = (select s.oid from s)
   and c.relkind = 'S'
union all
select 'unique ' || c.relname || ' (' || a.attname || ')'
  from pg_catalog.pg_index as i
  join pg_catalog.pg_class as c on c.oid = i.indrelid
  join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum = i.indkey[0]
 where c.relnamespace = (select s.oid from s)
   and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1`

// missingFromContract returns the lines of the contract that the schema lacks.
func (m *Migrator) missingFromContract(ctx context.Context, tx pgx.Tx, e evidence) ([]string, error) {
	found, err := collect(ctx, tx, pgx.RowTo[string], contractQuery, m.schema, e.qualifier)
	if err != nil {
		return nil, fmt.Errorf("compare schema: %w", err)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(contract), "\n"), func(line string) bool {
		return slices.Contains(found, line)
	}), nil
}
