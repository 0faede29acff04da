-- Our own objects next to the contract: indexes and side tables, never a new column on the contract's tables.

-- The costs of the indexes below are their shares of the WAL of adding a job, as measured by bench/sql.

-- The order of jobs is priority, run_at, id. With id as a key column the index has that order. Without it, a claim sorts
-- every job that a bulk insert gave the same run_at (391 ms among a million jobs, against 0.4). Costs 20 %.
drop index {{.schema}}.jobs_no_queue_index;
create index jobs_no_queue_index
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is null;

-- The same order for jobs in named queues, and the head job of each queue. Without the latter a claim of queued
-- jobs takes four times as long, and their completion seven times. Each costs 20 to 24 % for a queued job, nothing for
-- others. With these three indexes, only claims of Node workers use jobs_main_index, which costs 22 %; doctor() reports
-- when it is unused.
create index _gw_queued_jobs
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id, job_queue_id)
  where is_available = true and job_queue_id is not null;
create index _gw_queue_heads
  on {{.schema}}._private_jobs (job_queue_id, priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is not null;

-- The order of the queued jobs of one task. Without it, a claim for some tasks visits every queue in which jobs of other
-- tasks are waiting: half a second for 100 000 queues. Costs 17 % for a queued job.
create index _gw_queued_tasks
  on {{.schema}}._private_jobs (task_id, priority, run_at, id) include (job_queue_id)
  where is_available = true and job_queue_id is not null;

-- Free space in each page for the row version that a claim creates: 401 bytes of WAL per claim instead of 432.
-- Autovacuum keeps its defaults: it runs often enough on a table as small as a queue, and the claim cursor skips the
-- rows that it has not removed yet.
alter table {{.schema}}._private_jobs set (fillfactor = 70);

-- The same for the two versions of a queue's row that a claim and a completion create: 673 bytes of WAL for both together
-- instead of 826.
alter table {{.schema}}._private_job_queues set (fillfactor = 50);

create table {{.schema}}._gw_settings (
  name       text        not null constraint _gw_settings_pkey primary key,
  value      text        not null,
  updated_at timestamptz not null default now()
);

create table {{.schema}}._gw_workers (
  id            text        not null constraint _gw_workers_pkey primary key,
  started_at    timestamptz not null default now(),
  last_seen_at  timestamptz not null default now(),
  host          text,
  pid           integer,
  version       text,
  tasks         text[]      not null default '{}',
  concurrency   integer     not null default 1 constraint _gw_workers_concurrency_check check (concurrency >= 1),
  crontab       text[]      not null default '{}',
  beating_since timestamptz not null default now(),
  recovered_at  timestamptz
);

-- Empty except for some time after a worker died: every claim checks whether it is empty. No foreign key, as for contexts.
create table {{.schema}}._gw_suspects (
  job_id    bigint  not null constraint _gw_suspects_pkey primary key,
  revision  integer not null,
  crashes   integer not null default 0,
  worker_id text,
  is_alone  boolean not null default true,
  strict    boolean not null default false,
  room_at   timestamptz
);

-- Empty except while canceled jobs are running: each heartbeat checks whether it is empty. No foreign key, as for contexts.
create table {{.schema}}._gw_cancels (
  job_id    bigint not null constraint _gw_cancels_pkey primary key,
  worker_id text   not null,
  reason    text
);

-- One row while a pass of recovery is in progress, otherwise none.
create table {{.schema}}._gw_recovery (
  started_at timestamptz not null default clock_timestamp() constraint _gw_recovery_pkey primary key,
  workers    text[]      not null,
  place      bigint      not null default -9223372036854775808,
  left_over  boolean     not null default false
);

-- Unlogged: falling asleep must not wait for the disk. A crash empties the table and breaks every listening connection;
-- a worker that listens again searches for jobs first and then sets a new mark.
create unlogged table {{.schema}}._gw_sleepers (
  worker_id text        not null constraint _gw_sleepers_pkey primary key,
  until     timestamptz not null
) with (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

-- Skips expired marks, including those that an old snapshot keeps from being vacuumed.
create index _gw_sleepers_until on {{.schema}}._gw_sleepers (until);

create table {{.schema}}._gw_turns (
  name    text        not null constraint _gw_turns_pkey primary key,
  last_at timestamptz not null
);

-- One row for each slot, so the table does not grow, whatever claims are made. Two kinds of claims that share a slot
-- overwrite each other's cursor. Logged, because a cursor is stored a few times a second at most.
create table {{.schema}}._gw_claim_cursors (
  slot   smallint not null constraint _gw_claim_cursors_pkey primary key,
  cursor bigint[]
) with (fillfactor = 50);

-- No foreign key: Node workers delete jobs, and must not pay for a feature that they do not have. Nor is there a trigger on
-- the jobs, because it also costs jobs without a context: completing a single job takes 22 us without a trigger, 29 with a
-- statement trigger with a transition table, 37 with a row trigger; one job of 500 takes 1.7, 1.9 and 7. So a trigger on
-- this table deletes old contexts when new ones are added.
create table {{.schema}}._gw_job_context (
  job_id   bigint  not null constraint _gw_job_context_pkey primary key,
  revision integer not null,
  context  jsonb   not null
);

-- Where the last search for contexts of deleted jobs ended. A sequence, because it is not locked until the commit.
create sequence {{.schema}}._gw_job_context_cursor minvalue 0 start 0 owned by {{.schema}}._gw_job_context.job_id;

create table {{.schema}}._gw_installed (
  object text not null constraint _gw_installed_pkey primary key,
  digest text not null
);

create table {{.schema}}._gw_breaking_versions (
  version integer not null constraint _gw_breaking_versions_pkey primary key
);

create table {{.schema}}._gw_grants (
  role  text   not null,
  kind  text   not null,
  tasks text[] not null default '{}',
  constraint _gw_grants_pkey primary key (role, kind)
);

create table {{.schema}}._gw_shared_rights (
  role     text not null,
  right_to text not null,
  constraint _gw_shared_rights_pkey primary key (role, right_to)
);

-- Parsed patterns. Parsing a thousand of them would take longer than the rest of a tick. At most 10 000 are stored;
-- see _gw_remember_patterns. Bit n of a field stands for its value n; see _gw_cron_parse.
create table {{.schema}}._gw_cron_patterns (
  pattern  text    not null constraint _gw_cron_patterns_pkey primary key,
  minutes  bigint  not null,
  hours    bigint  not null,
  dates    bigint  not null,
  months   bigint  not null,
  dows     bigint  not null,
  by_clock boolean not null
);

create table {{.schema}}._gw_schedules (
  identifier   text        not null constraint _gw_schedules_pkey primary key,
  task         text        not null,
  pattern      text        not null,
  time_zone    text        not null default 'UTC',
  payload      json,
  fill         interval    not null default '0',
  queue_name   text,
  max_attempts integer,
  priority     integer,
  job_key      text,
  job_key_mode text,
  flags        text[],
  paused       boolean     not null default false,
  active_since timestamptz not null default now(),
  last_run     timestamptz,
  last_job_id  bigint
);

insert into {{.schema}}._gw_claim_cursors (slot) select generate_series(0, 255);
insert into {{.schema}}._gw_turns (name, last_at) values ('stale_sweep', '-infinity'), ('recovery', '-infinity');

alter table {{.schema}}._gw_settings      enable row level security;
alter table {{.schema}}._gw_workers       enable row level security;
alter table {{.schema}}._gw_suspects      enable row level security;
alter table {{.schema}}._gw_cancels       enable row level security;
alter table {{.schema}}._gw_recovery      enable row level security;
alter table {{.schema}}._gw_sleepers      enable row level security;
alter table {{.schema}}._gw_claim_cursors enable row level security;
alter table {{.schema}}._gw_turns         enable row level security;
alter table {{.schema}}._gw_job_context   enable row level security;
alter table {{.schema}}._gw_installed     enable row level security;
alter table {{.schema}}._gw_grants        enable row level security;
alter table {{.schema}}._gw_shared_rights enable row level security;
alter table {{.schema}}._gw_cron_patterns enable row level security;
alter table {{.schema}}._gw_schedules     enable row level security;

-- add_job reads these two tables with the privileges of its caller. A role that row level security applies to reads all
-- rows as well, if it was granted select: without a policy it would get the defaults.
create policy _gw_readable on {{.schema}}._gw_settings for select using (true);
create policy _gw_readable on {{.schema}}._gw_sleepers for select using (true);

comment on policy _gw_readable on {{.schema}}._gw_settings is 'A role that was granted select reads all rows.';
comment on policy _gw_readable on {{.schema}}._gw_sleepers is 'A role that was granted select reads all rows.';

comment on index {{.schema}}._gw_queued_jobs is 'The jobs in named queues, in claim order.';
comment on index {{.schema}}._gw_queued_tasks is 'The jobs in named queues by task, in claim order.';
comment on index {{.schema}}._gw_queue_heads is 'Finds the head job of each named queue.';

comment on table {{.schema}}._gw_settings is 'Fleet-wide settings that differ from their default; see set_setting().';
comment on column {{.schema}}._gw_settings.name is 'The name of the setting.';
comment on column {{.schema}}._gw_settings.value is 'Its value.';
comment on column {{.schema}}._gw_settings.updated_at is 'When it was last set.';

comment on table {{.schema}}._gw_workers is 'Registered workers. Workers that do not register, such as Node''s, are not in this table.';
comment on column {{.schema}}._gw_workers.id is 'The id of the worker, as in locked_by.';
comment on column {{.schema}}._gw_workers.started_at is 'When it first registered.';
comment on column {{.schema}}._gw_workers.last_seen_at is 'Its last heartbeat.';
comment on column {{.schema}}._gw_workers.host is 'The host it runs on.';
comment on column {{.schema}}._gw_workers.pid is 'Its process id there.';
comment on column {{.schema}}._gw_workers.version is 'The version of its program.';
comment on column {{.schema}}._gw_workers.tasks is 'The tasks it runs.';
comment on column {{.schema}}._gw_workers.concurrency is 'How many jobs it runs at once.';
comment on column {{.schema}}._gw_workers.crontab is 'The identifiers of the recurring jobs in its crontab.';

comment on column {{.schema}}._gw_workers.beating_since is 'Since when it has sent heartbeats without a gap; see heartbeat().';
comment on column {{.schema}}._gw_workers.recovered_at is 'When the recovery of its jobs was complete after its death; null: it is alive or not recovered yet.';

comment on table {{.schema}}._gw_suspects is 'Suspects: jobs that a worker held when it died; see get_job_alone().';
comment on column {{.schema}}._gw_suspects.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_suspects.revision is 'Its revision then; a job with another revision is not a suspect.';
comment on column {{.schema}}._gw_suspects.crashes is 'How many workers died while they ran the job alone.';
comment on column {{.schema}}._gw_suspects.worker_id is 'The worker that last claimed it as a suspect.';
comment on column {{.schema}}._gw_suspects.is_alone is 'Whether that worker runs, or ran, no other job beside it.';
comment on column {{.schema}}._gw_suspects.strict is 'Whether it has to run alone until it ends, because a worker died that ran it as a suspect.';
comment on column {{.schema}}._gw_suspects.room_at is 'When a worker last began to make room for it; see make_room().';

comment on table {{.schema}}._gw_cancels is 'Running jobs that were canceled, for the heartbeats of their workers; see cancel_jobs().';
comment on column {{.schema}}._gw_cancels.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_cancels.worker_id is 'The worker that ran it at that time.';
comment on column {{.schema}}._gw_cancels.reason is 'Why it was canceled.';

comment on table {{.schema}}._gw_recovery is 'The progress of the recovery of dead workers; see heartbeat().';
comment on column {{.schema}}._gw_recovery.started_at is 'When this pass over the jobs began.';
comment on column {{.schema}}._gw_recovery.workers is 'The workers that were dead at that time.';
comment on column {{.schema}}._gw_recovery.place is 'The id of the last job that was read.';
comment on column {{.schema}}._gw_recovery.left_over is 'Whether jobs were skipped and left for a later pass.';

comment on table {{.schema}}._gw_sleepers is 'Workers that wait for notifications; see fall_asleep().';
comment on column {{.schema}}._gw_sleepers.worker_id is 'The worker.';
comment on column {{.schema}}._gw_sleepers.until is 'When the mark expires unless the worker renews it.';
comment on index {{.schema}}._gw_sleepers_until is 'Finds a sleeping worker.';

comment on table {{.schema}}._gw_claim_cursors is 'Claim cursors for sessions that have not claimed yet; see _gw_claim_cursor().';
comment on column {{.schema}}._gw_claim_cursors.slot is 'The scope of the claims, modulo 256.';
comment on column {{.schema}}._gw_claim_cursors.cursor is 'The cursor as in the setting gw.claim_cursor, null if none was stored.';

comment on table {{.schema}}._gw_turns is 'Work for the whole fleet that only one worker does at a time; it locks the row.';
comment on column {{.schema}}._gw_turns.name is 'The name of the work.';
comment on column {{.schema}}._gw_turns.last_at is 'When it was last done, for periodic work.';

comment on table {{.schema}}._gw_job_context is 'Contexts of jobs, such as traces, stored by producers; a row may outlive its job for some time.';
comment on column {{.schema}}._gw_job_context.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_job_context.revision is 'Its revision when the context was stored; at another revision the job has no context.';
comment on column {{.schema}}._gw_job_context.context is 'Names and values, as in the headers of a request.';
comment on sequence {{.schema}}._gw_job_context_cursor is 'The id of the job after which the next search for contexts of deleted jobs begins.';

comment on table {{.schema}}._gw_installed is 'Digests of the functions and triggers that the migrations installed, for doctor() to compare with.';
comment on column {{.schema}}._gw_installed.object is 'The function or trigger.';
comment on column {{.schema}}._gw_installed.digest is 'The MD5 sum of its definition.';

-- Without row level security, as migrations: programs of other roles than the owner read it, too.
comment on table {{.schema}}._gw_breaking_versions is
  'Breaking versions of this schema: programs that do not support them must not use it. A breaking migration adds its number.';
comment on column {{.schema}}._gw_breaking_versions.version is 'The version, as in _gw_schema_version.';

comment on table {{.schema}}._gw_grants is 'The roles set up by gw-migrate grants; migrations apply them again.';
comment on column {{.schema}}._gw_grants.role is 'The role.';
comment on column {{.schema}}._gw_grants.kind is 'The kind of the role: producer, worker, scheduler, monitor or admin.';
comment on column {{.schema}}._gw_grants.tasks is 'For a producer, the tasks that it may enqueue; empty: all.';

comment on table {{.schema}}._gw_shared_rights is 'Privileges that migrations granted to roles with privileges of their own on _private_jobs; see _gw_share_rights().';
comment on column {{.schema}}._gw_shared_rights.role is 'The role, quoted.';
comment on column {{.schema}}._gw_shared_rights.right_to is 'The privilege and its object, as in GRANT.';

comment on table {{.schema}}._gw_cron_patterns is 'Parsed cron patterns, 10 000 at most.';
comment on column {{.schema}}._gw_cron_patterns.pattern is 'The five fields.';
comment on column {{.schema}}._gw_cron_patterns.minutes is 'Bits 0 to 59: the minutes of the hour.';
comment on column {{.schema}}._gw_cron_patterns.hours is 'Bits 0 to 23: the hours of the day.';
comment on column {{.schema}}._gw_cron_patterns.dates is 'Bits 1 to 31: the days of the month; none if only days of week count.';
comment on column {{.schema}}._gw_cron_patterns.months is 'Bits 1 to 12: the months.';
comment on column {{.schema}}._gw_cron_patterns.dows is 'Bits 0 to 6: the days of week from Sunday on; none if they do not count.';
comment on column {{.schema}}._gw_cron_patterns.by_clock is 'Whether the pattern is for fixed times of day: its hours are a list of single hours.';

comment on table {{.schema}}._gw_schedules is 'Recurring jobs that cron_schedule() has created. Their rows in _private_known_crontabs record the last run.';
comment on column {{.schema}}._gw_schedules.identifier is 'The name of the recurring job.';
comment on column {{.schema}}._gw_schedules.task is 'The task that runs its jobs.';
comment on column {{.schema}}._gw_schedules.pattern is 'The cron pattern, in five fields.';
comment on column {{.schema}}._gw_schedules.time_zone is 'The time zone of the pattern.';
comment on column {{.schema}}._gw_schedules.payload is 'The payload of its jobs, without _cron.';
comment on column {{.schema}}._gw_schedules.fill is 'How far back a worker backfills missed runs when it starts.';
comment on column {{.schema}}._gw_schedules.queue_name is 'The named queue of its jobs, if they are in one.';
comment on column {{.schema}}._gw_schedules.max_attempts is 'The max_attempts of its jobs; null: the default.';
comment on column {{.schema}}._gw_schedules.priority is 'The priority of its jobs; null: the default.';
comment on column {{.schema}}._gw_schedules.job_key is 'The job_key of its jobs, if they have one.';
comment on column {{.schema}}._gw_schedules.job_key_mode is 'What happens to a job that is waiting under that key; null: the default.';
comment on column {{.schema}}._gw_schedules.flags is 'The flags of its jobs.';
comment on column {{.schema}}._gw_schedules.paused is 'Whether it is paused until cron_resume().';
comment on column {{.schema}}._gw_schedules.active_since is 'When it was created or resumed, or its pattern or time zone last changed; earlier runs are not backfilled.';
comment on column {{.schema}}._gw_schedules.last_run is 'The last minute for which it added a job.';
comment on column {{.schema}}._gw_schedules.last_job_id is 'The id of the job of its last run.';
