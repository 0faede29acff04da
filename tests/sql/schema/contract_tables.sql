-- The five tables of Graphile Worker have its columns, in its order, with its types, defaults and generation.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.columns_of(table_name text)
  returns table (name text, type text, required boolean, identity text, generated text, expression text)
  language sql
as $$
  select a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
         pg_get_expr(d.adbin, d.adrelid)
    from pg_attribute as a
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attrelid = table_name::regclass and a.attnum > 0 and not a.attisdropped
   order by a.attnum
$$;

select results_eq(
  $$ select * from pg_temp.columns_of('_private_jobs') $$,
  $$ values ('id',           'bigint',                   true,  'a', '',  null),
            ('job_queue_id', 'integer',                  false, '',  '',  null),
            ('task_id',      'integer',                  true,  '',  '',  null),
            ('payload',      'json',                     true,  '',  '',  '''{}''::json'),
            ('priority',     'smallint',                 true,  '',  '',  '0'),
            ('run_at',       'timestamp with time zone', true,  '',  '',  'now()'),
            ('attempts',     'smallint',                 true,  '',  '',  '0'),
            ('max_attempts', 'smallint',                 true,  '',  '',  '25'),
            ('last_error',   'text',                     false, '',  '',  null),
            ('created_at',   'timestamp with time zone', true,  '',  '',  'now()'),
            ('updated_at',   'timestamp with time zone', true,  '',  '',  'now()'),
            ('key',          'text',                     false, '',  '',  null),
            ('locked_at',    'timestamp with time zone', false, '',  '',  null),
            ('locked_by',    'text',                     false, '',  '',  null),
            ('revision',     'integer',                  true,  '',  '',  '0'),
            ('flags',        'jsonb',                    false, '',  '',  null),
            ('is_available', 'boolean',                  true,  '',  's', '((locked_at IS NULL) AND (attempts < max_attempts))') $$,
  'the jobs have the columns of the contract');

select results_eq(
  $$ select * from pg_temp.columns_of('_private_job_queues') $$,
  $$ values ('id',           'integer',                  true,  'a', '',  null),
            ('queue_name',   'text',                     true,  '',  '',  null),
            ('locked_at',    'timestamp with time zone', false, '',  '',  null),
            ('locked_by',    'text',                     false, '',  '',  null),
            ('is_available', 'boolean',                  true,  '',  's', '(locked_at IS NULL)') $$,
  'the queues have the columns of the contract');

select results_eq(
  $$ select * from pg_temp.columns_of('_private_tasks') $$,
  $$ values ('id',         'integer', true, 'a', '', null),
            ('identifier', 'text',    true, '',  '', null) $$,
  'the task names have the columns of the contract');

select results_eq(
  $$ select * from pg_temp.columns_of('_private_known_crontabs') $$,
  $$ values ('identifier',     'text',                     true,  '', '', null),
            ('known_since',    'timestamp with time zone', true,  '', '', null),
            ('last_execution', 'timestamp with time zone', false, '', '', null) $$,
  'the known crontabs have the columns of the contract');

select results_eq(
  $$ select * from pg_temp.columns_of('migrations') $$,
  $$ values ('id',       'integer',                  true, '', '', null),
            ('ts',       'timestamp with time zone', true, '', '', 'now()'),
            ('breaking', 'boolean',                  true, '', '', 'false') $$,
  'the ledger has the columns of the contract');

select results_eq(
  $$ select s.seqrelid::regclass::text, d.refobjid::regclass::text, format_type(s.seqtypid, null), s.seqstart,
            s.seqincrement, s.seqcache, s.seqcycle
       from pg_sequence as s
       join pg_depend as d on d.objid = s.seqrelid and d.deptype = 'i' and d.classid = 'pg_class'::regclass
      where d.refobjid in ('_private_jobs'::regclass, '_private_job_queues'::regclass, '_private_tasks'::regclass)
      order by 1 $$,
  $$ values ('job_queues_id_seq', '_private_job_queues', 'integer', 1::bigint, 1::bigint, 1::bigint, false),
            ('jobs_id_seq1',      '_private_jobs',       'bigint',  1, 1, 1, false),
            ('tasks_id_seq',      '_private_tasks',      'integer', 1, 1, 1, false) $$,
  'the sequences have the names of the contract');

select * from finish();
rollback;
