package contract

var schemaScenarios = []scenario{
	{
		name: "the tables have these columns",
		steps: []string{`
			select c.relname, string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
			                             nullif(a.attidentity, ''), nullif(a.attgenerated, ''), pg_get_expr(d.adbin, d.adrelid)), ', ' order by a.attnum)
			  from pg_class as c
			  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
			  left join pg_attrdef as d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
			 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relname not like '\_gw\_%'
			 group by c.relname order by c.relname`},
	},
	{
		name: "the tables have these constraints, and no foreign keys",
		steps: []string{`
			select c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)
			  from pg_constraint as c join pg_class as r on r.oid = c.conrelid
			 where c.connamespace = 'graphile_worker'::regnamespace and r.relname not like '\_gw\_%' and c.contype not in ('n', 't')
			 order by 1::text, 2`},
	},
	{
		name: "the tables have these indexes",
		steps: []string{`
			select i.indexname, regexp_replace(i.indexdef, ' WITH [(].*?[)]', '')
			  from pg_indexes as i
			 where i.schemaname = 'graphile_worker' and i.tablename not like '\_gw\_%' and i.indexname not like '\_gw\_%'
			   and i.indexname <> 'jobs_no_queue_index'
			 order by 1`},
	},
	{
		name:       "jobs without a queue are found through jobs_no_queue_index",
		steps:      []string{`select regexp_replace(indexdef, '^.* btree ', '') from pg_indexes where indexname = 'jobs_no_queue_index'`},
		node:       `(priority, run_at) INCLUDE (id, task_id) WHERE ((is_available = true) AND (job_queue_id IS NULL))`,
		ours:       `(priority, run_at, id) INCLUDE (task_id) WHERE ((is_available = true) AND (job_queue_id IS NULL))`,
		difference: "The index jobs_no_queue_index",
	},
	{
		name: "the tables have these sequences",
		steps: []string{`
			select s.sequencename, s.data_type, s.start_value, s.increment_by, s.cache_size
			  from pg_sequences as s
			 where s.schemaname = 'graphile_worker' and s.sequencename not like '\_gw\_%' order by 1`},
	},
	{
		name: "row level security is on for these tables, without policies",
		steps: []string{
			`select c.relname, c.relrowsecurity, c.relforcerowsecurity
			   from pg_class as c
			  where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relname not like '\_gw\_%' order by 1`,
			`select count(*) from pg_policies where schemaname = 'graphile_worker' and tablename not like '\_gw\_%'`,
		},
		node: `
			_private_job_queues|t|f
			_private_jobs|t|f
			_private_known_crontabs|t|f
			_private_tasks|t|f
			migrations|f|f
			0`,
	},
	{
		name: "the view jobs has these columns, and no payload",
		steps: []string{`
			select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
			  from pg_attribute as a where a.attrelid = 'jobs'::regclass and a.attnum > 0`},
	},
	{
		name: "a job whose task's name was deleted is not in the view jobs",
		steps: []string{`insert into _private_jobs (task_id) values (7)`, `select count(*) from jobs`,
			`select count(*) from _private_jobs`},
		node: `
			0
			1`,
	},
	{
		name: "the type job_spec has these attributes",
		steps: []string{`
			select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
			  from pg_attribute as a
			 where a.attrelid = (select typrelid from pg_type where oid = 'job_spec'::regtype) and a.attnum > 0`},
	},
	{
		name: "the public functions have these signatures, once each",
		steps: []string{`
			select p.oid::regprocedure, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.proisstrict, p.prosecdef, p.provolatile, p.proparallel
			  from pg_proc as p
			 where p.pronamespace = 'graphile_worker'::regnamespace
			   and p.proname in ('add_job', 'add_jobs', 'complete_jobs', 'permanently_fail_jobs', 'reschedule_jobs', 'remove_job', 'force_unlock_workers')
			 order by p.proname`},
	},
	{
		name:  "the migrations are these",
		steps: []string{`select string_agg(m.id || case when m.breaking then '!' else '' end, ' ' order by m.id) from migrations as m`},
		node:  `1! 2 3! 4 5 6 7 8 9 10 11! 12 13! 14! 15 16! 17 18 19! 20`,
	},
	{
		name: "a raw INSERT announces nothing, and a raw UPDATE leaves updated_at",
		steps: []string{
			`insert into _private_tasks (identifier) values ('a'); insert into _private_jobs (task_id) values (1)`,
			`call grow_old()`,
			`update _private_jobs set priority = 1`,
			`select task, priority, attempts, max_attempts, payload, available, untouched from rows`,
		},
		node: `a|1|0|25|{}|t|t`,
	},
	{
		name: "the tables refuse what is out of bounds",
		steps: []string{
			`insert into _private_tasks (identifier) values (repeat('t', 129))`,
			`insert into _private_job_queues (queue_name) values (repeat('q', 129))`,
			`insert into _private_jobs (task_id, key) values (1, '')`,
			`insert into _private_jobs (task_id, key) values (1, repeat('k', 513))`,
			`insert into _private_jobs (task_id, max_attempts) values (1, 0)`,
		},
		node: `
			error 23514
			error 23514
			error 23514
			error 23514
			error 23514`,
	},
}
