-- The tables, types and ledger of Graphile Worker at revision 20. They are a contract shared with its Node worker,
-- which uses the same tables: names, types, constraints and defaults must not change. Our own data is in separate
-- tables.

-- If tern itself runs this migration, existing objects stay unchanged.
do $$
begin
  if to_regclass('{{ replace "'" "''" .schema }}.migrations') is not null
     or to_regclass('{{ replace "'" "''" .schema }}._private_jobs') is not null then
    raise exception 'Schema % has a queue already; if Graphile Worker has made it, gw-migrate takes it over.',
      '{{ replace "'" "''" .schema }}'
      using errcode = 'duplicate_table';
  end if;
end
$$;

create table {{.schema}}.migrations (
  id       integer     not null constraint migrations_pkey primary key,
  ts       timestamptz not null default now(),
  breaking boolean     not null default false
);

insert into {{.schema}}.migrations (id, breaking)
select r.id, r.id in (1, 3, 11, 13, 14, 16, 19)
  from generate_series(1, 20) as r (id);

create table {{.schema}}._private_tasks (
  id         integer generated always as identity (sequence name {{.schema}}.tasks_id_seq)
             constraint tasks_pkey primary key,
  identifier text not null
             constraint tasks_identifier_key unique
             constraint tasks_identifier_check check (length(identifier) <= 128)
);

create table {{.schema}}._private_job_queues (
  id           integer generated always as identity (sequence name {{.schema}}.job_queues_id_seq)
               constraint job_queues_pkey1 primary key,
  queue_name   text not null
               constraint job_queues_queue_name_key unique
               constraint job_queues_queue_name_check check (length(queue_name) <= 128),
  locked_at    timestamptz,
  locked_by    text,
  is_available boolean not null generated always as (locked_at is null) stored
);

create table {{.schema}}._private_jobs (
  id           bigint generated always as identity (sequence name {{.schema}}.jobs_id_seq1)
               constraint jobs_pkey1 primary key,
  job_queue_id integer,
  task_id      integer     not null,
  payload      json        not null default '{}'::json,
  priority     smallint    not null default 0,
  run_at       timestamptz not null default now(),
  attempts     smallint    not null default 0,
  max_attempts smallint    not null default 25
               constraint jobs_max_attempts_check check (max_attempts >= 1),
  last_error   text,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  key          text
               constraint jobs_key_key1 unique
               constraint jobs_key_check check (length(key) > 0 and length(key) <= 512),
  locked_at    timestamptz,
  locked_by    text,
  revision     integer     not null default 0,
  flags        jsonb,
  is_available boolean     not null generated always as (locked_at is null and attempts < max_attempts) stored
);

create index jobs_main_index
  on {{.schema}}._private_jobs (priority, run_at) include (id, task_id, job_queue_id)
  where is_available = true;

create index jobs_no_queue_index
  on {{.schema}}._private_jobs (priority, run_at) include (id, task_id)
  where is_available = true and job_queue_id is null;

create table {{.schema}}._private_known_crontabs (
  identifier     text        not null constraint known_crontabs_pkey primary key,
  known_since    timestamptz not null,
  last_execution timestamptz
);

-- Enabled without a policy: only the owner can read rows, whatever is granted.
alter table {{.schema}}._private_tasks          enable row level security;
alter table {{.schema}}._private_job_queues     enable row level security;
alter table {{.schema}}._private_jobs           enable row level security;
alter table {{.schema}}._private_known_crontabs enable row level security;

create view {{.schema}}.jobs as
select j.id,
       q.queue_name,
       t.identifier as task_identifier,
       j.priority,
       j.run_at,
       j.attempts,
       j.max_attempts,
       j.last_error,
       j.created_at,
       j.updated_at,
       j.key,
       j.locked_at,
       j.locked_by,
       j.revision,
       j.flags
  from {{.schema}}._private_jobs as j
  join {{.schema}}._private_tasks as t on t.id = j.task_id
  left join {{.schema}}._private_job_queues as q on q.id = j.job_queue_id;

create type {{.schema}}.job_spec as (
  identifier   text,
  payload      json,
  queue_name   text,
  run_at       timestamptz,
  max_attempts smallint,
  job_key      text,
  priority     smallint,
  flags        text[]
);

comment on table {{.schema}}.migrations is
  'Ledger of Graphile Worker''s schema revisions, read by its Node worker: rows 1 to 20, with no rows of ours.';
comment on column {{.schema}}.migrations.id is 'The revision.';
comment on column {{.schema}}.migrations.ts is 'When it was applied.';
comment on column {{.schema}}.migrations.breaking is 'Whether workers that do not support the revision must stop.';

comment on table {{.schema}}._private_tasks is 'Task names and their ids.';
comment on column {{.schema}}._private_tasks.id is 'The id that jobs refer to.';
comment on column {{.schema}}._private_tasks.identifier is 'The name of the task, at most 128 characters.';

comment on table {{.schema}}._private_job_queues is
  'Named queues. A queue is locked while one of its jobs runs, so its jobs run one after the other.';
comment on column {{.schema}}._private_job_queues.id is 'The id that jobs refer to.';
comment on column {{.schema}}._private_job_queues.queue_name is 'The name of the queue, at most 128 characters.';
comment on column {{.schema}}._private_job_queues.locked_at is 'Since when a job of the queue has been running; null: none is.';
comment on column {{.schema}}._private_job_queues.locked_by is 'The worker that runs it.';
comment on column {{.schema}}._private_job_queues.is_available is 'Whether the next job of the queue may be claimed.';

comment on table {{.schema}}._private_jobs is 'The jobs that are waiting, running or permanently failed. A completed job has no row.';
comment on column {{.schema}}._private_jobs.id is 'The id of the job, and the last sort key of the order of jobs.';
comment on column {{.schema}}._private_jobs.job_queue_id is 'The named queue, if the job is in one.';
comment on column {{.schema}}._private_jobs.task_id is 'The task that runs the job.';
comment on column {{.schema}}._private_jobs.payload is 'The input of the task.';
comment on column {{.schema}}._private_jobs.priority is 'Lower runs first.';
comment on column {{.schema}}._private_jobs.run_at is 'The job does not start before this time.';
comment on column {{.schema}}._private_jobs.attempts is
  'How often the job was claimed. max_attempts + 1: it was replaced or removed while it was running and must not run again.';
comment on column {{.schema}}._private_jobs.max_attempts is 'The number of attempts after which a failing job has failed permanently.';
comment on column {{.schema}}._private_jobs.last_error is 'Why the last failed attempt failed.';
comment on column {{.schema}}._private_jobs.created_at is 'When the job was added.';
comment on column {{.schema}}._private_jobs.updated_at is 'When a producer or an administrator last changed it; claims and outcomes do not count.';
comment on column {{.schema}}._private_jobs.key is 'The job_key, unique among the existing rows.';
comment on column {{.schema}}._private_jobs.locked_at is 'When the job was claimed; null: it is not claimed. Its microseconds since 1970 are the lease.';
comment on column {{.schema}}._private_jobs.locked_by is 'The worker that claimed it.';
comment on column {{.schema}}._private_jobs.revision is 'How often the job was replaced through its key.';
comment on column {{.schema}}._private_jobs.flags is 'An object of flag -> true; a worker may refuse jobs by flag.';
comment on column {{.schema}}._private_jobs.is_available is 'Whether the job may be claimed from run_at on: it is not claimed and has attempts left.';

comment on table {{.schema}}._private_known_crontabs is 'Recurring jobs that workers have registered; it ensures that each minute is scheduled once.';
comment on column {{.schema}}._private_known_crontabs.identifier is 'The name of the recurring job.';
comment on column {{.schema}}._private_known_crontabs.known_since is 'When a worker first registered it.';
comment on column {{.schema}}._private_known_crontabs.last_execution is 'The last minute that was scheduled.';

comment on view {{.schema}}.jobs is 'The jobs that are waiting, running or permanently failed, read-only and without their payloads.';
comment on column {{.schema}}.jobs.id is 'The id of the job.';
comment on column {{.schema}}.jobs.queue_name is 'The named queue, if the job is in one.';
comment on column {{.schema}}.jobs.task_identifier is 'The task that runs the job.';
comment on column {{.schema}}.jobs.priority is 'Lower runs first.';
comment on column {{.schema}}.jobs.run_at is 'The job does not start before this time.';
comment on column {{.schema}}.jobs.attempts is 'How often the job was claimed.';
comment on column {{.schema}}.jobs.max_attempts is 'The number of attempts after which a failing job has failed permanently.';
comment on column {{.schema}}.jobs.last_error is 'Why the last failed attempt failed.';
comment on column {{.schema}}.jobs.created_at is 'When the job was added.';
comment on column {{.schema}}.jobs.updated_at is 'When a producer or an administrator last changed it.';
comment on column {{.schema}}.jobs.key is 'The job_key.';
comment on column {{.schema}}.jobs.locked_at is 'When the job was claimed; null: it is not claimed.';
comment on column {{.schema}}.jobs.locked_by is 'The worker that claimed it.';
comment on column {{.schema}}.jobs.revision is 'How often the job was replaced through its key.';
comment on column {{.schema}}.jobs.flags is 'An object of flag -> true.';

comment on type {{.schema}}.job_spec is 'One job for add_jobs(); null attributes get the defaults of add_job().';
