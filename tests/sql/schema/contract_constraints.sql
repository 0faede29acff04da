-- Every table of the contract has the constraints of Graphile Worker, with their names and meaning, and no others.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select r.relname, c.conname, pg_get_constraintdef(c.oid)
       from pg_constraint as c
       join pg_class as r on r.oid = c.conrelid
      where c.contype not in ('n', 't')
        and c.conrelid in ('_private_jobs'::regclass, '_private_job_queues'::regclass, '_private_tasks'::regclass,
                           '_private_known_crontabs'::regclass, 'migrations'::regclass)
      order by 1, 2 $$,
  $$ values ('_private_job_queues'::name, 'job_queues_pkey1'::name,  'PRIMARY KEY (id)'),
            ('_private_job_queues',     'job_queues_queue_name_check', 'CHECK ((length(queue_name) <= 128))'),
            ('_private_job_queues',     'job_queues_queue_name_key',   'UNIQUE (queue_name)'),
            ('_private_jobs',           'jobs_key_check',              'CHECK (((length(key) > 0) AND (length(key) <= 512)))'),
            ('_private_jobs',           'jobs_key_key1',               'UNIQUE (key)'),
            ('_private_jobs',           'jobs_max_attempts_check',     'CHECK ((max_attempts >= 1))'),
            ('_private_jobs',           'jobs_pkey1',                  'PRIMARY KEY (id)'),
            ('_private_known_crontabs', 'known_crontabs_pkey',         'PRIMARY KEY (identifier)'),
            ('_private_tasks',          'tasks_identifier_check',      'CHECK ((length(identifier) <= 128))'),
            ('_private_tasks',          'tasks_identifier_key',        'UNIQUE (identifier)'),
            ('_private_tasks',          'tasks_pkey',                  'PRIMARY KEY (id)'),
            ('migrations',              'migrations_pkey',             'PRIMARY KEY (id)') $$,
  'the constraints are those of the contract');

select * from finish();
rollback;
