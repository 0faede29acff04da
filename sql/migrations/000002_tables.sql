-- What is ours beside the contract: side tables, never a new column on its tables.

-- What the indexes cost is what the WAL of an enqueue is smaller by without them; bench/sql measures it.

-- The order of jobs is priority, run_at, id. With id as a key the index alone serves it; without, one claim sorts every
-- job that a bulk enqueue gave the same run_at (391 ms among a million, against 0.4). Costs 20 %.
drop index {{.schema}}.jobs_no_queue_index;
create index jobs_no_queue_index
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is null;

-- The same for jobs in named queues, and where the head job of each queue stands: without the latter a claim of queued
-- jobs takes four times as long, their completion seven times. Each costs 20 to 24 % for a queued job, nothing for
-- others. With these three, jobs_main_index, which costs 22 %, serves the claims of Node alone; doctor() says when it
-- is spare.
create index _gw_queued_jobs
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id, job_queue_id)
  where is_available = true and job_queue_id is not null;
create index _gw_queue_heads
  on {{.schema}}._private_jobs (job_queue_id, priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is not null;

-- The order of those of one task: else a claim for some tasks visits every queue in which jobs of others wait, half a
-- second for 100 000. Costs 17 % for a queued job.
create index _gw_queued_tasks
  on {{.schema}}._private_jobs (task_id, priority, run_at, id) include (job_queue_id)
  where is_available = true and job_queue_id is not null;

-- Room in each page for the version of a row that its claim makes: 401 bytes of WAL for each of many claims, not 432.
-- Autovacuum is left at its defaults: it comes often enough to a table as empty as a queue is, and to step over what it
-- has not removed yet is what claims have a cursor for.
alter table {{.schema}}._private_jobs set (fillfactor = 70);

-- The same for the two versions that a claim and a completion make of a queue's row: 673 bytes of WAL for both of each of
-- many jobs, not 826.
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

-- Empty but for a while after a worker died: every claim asks whether it is. No foreign key, as for contexts.
create table {{.schema}}._gw_suspects (
  job_id    bigint  not null constraint _gw_suspects_pkey primary key,
  revision  integer not null,
  crashes   integer not null default 0,
  worker_id text,
  is_alone  boolean not null default true,
  strict    boolean not null default false,
  room_at   timestamptz
);

-- Empty but while canceled jobs still run: each beat asks whether it is. No foreign key, as for contexts.
create table {{.schema}}._gw_cancels (
  job_id    bigint not null constraint _gw_cancels_pkey primary key,
  worker_id text   not null,
  reason    text
);

-- One row while a pass of recovery is under way, else none.
create table {{.schema}}._gw_recovery (
  started_at timestamptz not null default clock_timestamp() constraint _gw_recovery_pkey primary key,
  workers    text[]      not null,
  place      bigint      not null default -9223372036854775808,
  left_over  boolean     not null default false
);

-- Unlogged: to fall asleep must not wait for the disk. A crash empties it, and breaks every listening connection with it;
-- whoever listens again looks for jobs first, and then marks itself anew.
create unlogged table {{.schema}}._gw_sleepers (
  worker_id text        not null constraint _gw_sleepers_pkey primary key,
  until     timestamptz not null
) with (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

-- Marks that are over are passed by, those too that a held snapshot keeps from being vacuumed.
create index _gw_sleepers_until on {{.schema}}._gw_sleepers (until);

create table {{.schema}}._gw_turns (
  name    text        not null constraint _gw_turns_pkey primary key,
  last_at timestamptz not null
);

-- As many rows as there are slots, so that whatever claims are made, there are no more; two kinds of claims that share one
-- take turns. Logged, for a cursor is kept a few times a second at most.
create table {{.schema}}._gw_claim_cursors (
  slot   smallint not null constraint _gw_claim_cursors_pkey primary key,
  cursor bigint[]
) with (fillfactor = 50);

-- No foreign key: Node's workers delete jobs, and must not pay for what they do not know. Nor is there a trigger on the
-- jobs, for it costs those that have no context, too: to complete one job alone takes 22 us without, 29 by statement
-- with a transition table, 37 by row; one of 500 takes 1.7, 1.9 and 7. So the table cleans itself as it grows.
create table {{.schema}}._gw_job_context (
  job_id   bigint  not null constraint _gw_job_context_pkey primary key,
  revision integer not null,
  context  jsonb   not null
);

-- Where the last look for contexts of jobs that are gone ended. A sequence, for it is not locked until a commit.
create sequence {{.schema}}._gw_job_context_cursor minvalue 0 start 0 owned by {{.schema}}._gw_job_context.job_id;

create table {{.schema}}._gw_installed (
  object text not null constraint _gw_installed_pkey primary key,
  digest text not null
);

create table {{.schema}}._gw_grants (
  role  text   not null,
  kind  text   not null,
  tasks text[] not null default '{}',
  constraint _gw_grants_pkey primary key (role, kind)
);

-- A pattern is parsed once: a thousand of them would take longer than the rest of a tick. No more than 10 000 are kept;
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
alter table {{.schema}}._gw_cron_patterns enable row level security;
alter table {{.schema}}._gw_schedules     enable row level security;

comment on index {{.schema}}._gw_queued_jobs is 'The order of the jobs in named queues.';
comment on index {{.schema}}._gw_queued_tasks is 'The order of the jobs of one task in named queues.';
comment on index {{.schema}}._gw_queue_heads is 'Finds the head job of each named queue.';

comment on table {{.schema}}._gw_settings is 'Fleet-wide settings that differ from their default; see set_setting().';
comment on column {{.schema}}._gw_settings.name is 'The setting.';
comment on column {{.schema}}._gw_settings.value is 'Its value.';
comment on column {{.schema}}._gw_settings.updated_at is 'When it was last set.';

comment on table {{.schema}}._gw_workers is 'Workers that registered; those that do not, such as Node''s, are foreign.';
comment on column {{.schema}}._gw_workers.id is 'The worker: what locked_by holds.';
comment on column {{.schema}}._gw_workers.started_at is 'When it first registered.';
comment on column {{.schema}}._gw_workers.last_seen_at is 'Its last heartbeat.';
comment on column {{.schema}}._gw_workers.host is 'The host it runs on.';
comment on column {{.schema}}._gw_workers.pid is 'Its process id there.';
comment on column {{.schema}}._gw_workers.version is 'What its program was built from.';
comment on column {{.schema}}._gw_workers.tasks is 'The tasks it runs.';
comment on column {{.schema}}._gw_workers.concurrency is 'How many jobs it runs at once.';
comment on column {{.schema}}._gw_workers.crontab is 'The identifiers of the recurring jobs in its crontab.';

comment on column {{.schema}}._gw_workers.beating_since is 'Since when it has beaten without a gap; see heartbeat().';
comment on column {{.schema}}._gw_workers.recovered_at is 'When it was dead and all its jobs had been taken back; null: it lives, or may.';

comment on table {{.schema}}._gw_suspects is 'Jobs that were with a worker when it died; see get_job_alone().';
comment on column {{.schema}}._gw_suspects.job_id is 'The job.';
comment on column {{.schema}}._gw_suspects.revision is 'Its revision then; a job of another one is not suspected.';
comment on column {{.schema}}._gw_suspects.crashes is 'How many workers died while they ran it alone.';
comment on column {{.schema}}._gw_suspects.worker_id is 'The worker that last claimed it as a suspect.';
comment on column {{.schema}}._gw_suspects.is_alone is 'Whether that worker runs, or ran, nothing beside it.';
comment on column {{.schema}}._gw_suspects.strict is 'Whether it has to be alone for all of its run: a worker died that ran it as a suspect.';
comment on column {{.schema}}._gw_suspects.room_at is 'When a worker last began to make room for it; see make_room().';

comment on table {{.schema}}._gw_cancels is 'Running jobs that were canceled, for the beats of their workers; see cancel_jobs().';
comment on column {{.schema}}._gw_cancels.job_id is 'The job.';
comment on column {{.schema}}._gw_cancels.worker_id is 'The worker that ran it then.';
comment on column {{.schema}}._gw_cancels.reason is 'Why it was canceled.';

comment on table {{.schema}}._gw_recovery is 'How far the recovery of dead workers is; see heartbeat().';
comment on column {{.schema}}._gw_recovery.started_at is 'When this pass over the jobs began.';
comment on column {{.schema}}._gw_recovery.workers is 'The workers that were dead then.';
comment on column {{.schema}}._gw_recovery.place is 'The last job that was looked at.';
comment on column {{.schema}}._gw_recovery.left_over is 'Whether something was passed by, for a later pass.';

comment on table {{.schema}}._gw_sleepers is 'Workers that wait to be told of jobs; see fall_asleep().';
comment on column {{.schema}}._gw_sleepers.worker_id is 'The worker.';
comment on column {{.schema}}._gw_sleepers.until is 'When the mark is over, should the worker not renew it.';
comment on index {{.schema}}._gw_sleepers_until is 'Finds a worker that sleeps.';

comment on table {{.schema}}._gw_claim_cursors is 'Where the jobs without a queue begin that suit a kind of claims, for sessions that have not claimed yet; see _gw_claim_cursor().';
comment on column {{.schema}}._gw_claim_cursors.slot is 'The scope of the claims, modulo 256.';
comment on column {{.schema}}._gw_claim_cursors.cursor is 'The cursor as in the setting gw.claim_cursor, null if none was kept.';

comment on table {{.schema}}._gw_turns is 'Work that one worker at a time does for the whole fleet, which locks its row.';
comment on column {{.schema}}._gw_turns.name is 'The work.';
comment on column {{.schema}}._gw_turns.last_at is 'When it was last done, if it is due once in a while.';

comment on table {{.schema}}._gw_job_context is 'What producers sent along with their jobs for whoever observes them, such as a trace; a row may outlive its job for a while.';
comment on column {{.schema}}._gw_job_context.job_id is 'The job.';
comment on column {{.schema}}._gw_job_context.revision is 'Its revision when the context was sent; a job of another one has none.';
comment on column {{.schema}}._gw_job_context.context is 'Names and values, as in the headers of a request.';
comment on sequence {{.schema}}._gw_job_context_cursor is 'The job after which the next look for contexts that are not needed any more begins.';

comment on table {{.schema}}._gw_installed is 'Functions and triggers as the migrations made them, for doctor() to compare with.';
comment on column {{.schema}}._gw_installed.object is 'The function or trigger.';
comment on column {{.schema}}._gw_installed.digest is 'The MD5 sum of what it says.';

comment on table {{.schema}}._gw_grants is 'Which roles gw-migrate grants has given what to, for migrations to give it again.';
comment on column {{.schema}}._gw_grants.role is 'The role.';
comment on column {{.schema}}._gw_grants.kind is 'What it is: producer, worker, scheduler, monitor or admin.';
comment on column {{.schema}}._gw_grants.tasks is 'Of a producer, the tasks that it may enqueue; none: all.';

comment on table {{.schema}}._gw_cron_patterns is 'Cron patterns as they are matched, 10 000 at most of those that were met.';
comment on column {{.schema}}._gw_cron_patterns.pattern is 'The five fields.';
comment on column {{.schema}}._gw_cron_patterns.minutes is 'Bits 0 to 59: the minutes of the hour.';
comment on column {{.schema}}._gw_cron_patterns.hours is 'Bits 0 to 23: the hours of the day.';
comment on column {{.schema}}._gw_cron_patterns.dates is 'Bits 1 to 31: the days of the month; none if days of week alone decide.';
comment on column {{.schema}}._gw_cron_patterns.months is 'Bits 1 to 12: the months.';
comment on column {{.schema}}._gw_cron_patterns.dows is 'Bits 0 to 6: the days of week from Sunday on; none unless they decide.';
comment on column {{.schema}}._gw_cron_patterns.by_clock is 'Whether the hours are appointments: a list of single hours.';

comment on table {{.schema}}._gw_schedules is 'Recurring jobs that cron_schedule() has set up; beside their rows in _private_known_crontabs, which decide what has run.';
comment on column {{.schema}}._gw_schedules.identifier is 'The recurring job.';
comment on column {{.schema}}._gw_schedules.task is 'The task that runs its jobs.';
comment on column {{.schema}}._gw_schedules.pattern is 'When it runs, in five fields.';
comment on column {{.schema}}._gw_schedules.time_zone is 'The zone by whose clock it runs.';
comment on column {{.schema}}._gw_schedules.payload is 'The payload of its jobs, but for _cron.';
comment on column {{.schema}}._gw_schedules.fill is 'For how long back a worker that starts makes up for missed runs.';
comment on column {{.schema}}._gw_schedules.queue_name is 'The named queue of its jobs, if they are in one.';
comment on column {{.schema}}._gw_schedules.max_attempts is 'After how many attempts a failing job of it has failed for good; null: the default.';
comment on column {{.schema}}._gw_schedules.priority is 'The priority of its jobs; null: the default.';
comment on column {{.schema}}._gw_schedules.job_key is 'The job_key of its jobs, if they have one.';
comment on column {{.schema}}._gw_schedules.job_key_mode is 'What becomes of a job that waits under that key; null: the default.';
comment on column {{.schema}}._gw_schedules.flags is 'The flags of its jobs.';
comment on column {{.schema}}._gw_schedules.paused is 'Whether it does not run until cron_resume().';
comment on column {{.schema}}._gw_schedules.active_since is 'Since when it is what it is: no run before is made up for.';
comment on column {{.schema}}._gw_schedules.last_run is 'The last minute for which it has added a job.';
comment on column {{.schema}}._gw_schedules.last_job_id is 'The job of its last run.';
