-- Our own objects next to the contract: indexes and side tables, never a new column on the contract's tables. For an
-- adopted schema it is the first migration that is run.

-- The costs of the indexes below are their shares of the WAL of adding a job, as measured by bench/sql.

-- The order of jobs is priority, run_at, id. With id as a key column the index has that order. Without it, a claim
-- sorts every job that a bulk insert gave the same run_at (391 ms among a million jobs, against 0.4). Costs 20 %.
drop index {{.schema}}.jobs_no_queue_index;
create index jobs_no_queue_index
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is null;

-- The same order for jobs in named queues, and the head job of each queue. Without the latter a claim of queued
-- jobs takes four times as long, and their completion seven times. Each costs 20 to 24 % for a queued job, nothing for
-- others. With these three indexes, only claims of Node workers use jobs_main_index, which costs 22 %. A negative
-- job_queue_id is that of jobs with limits; see below.
create index _gw_queued_jobs
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id, job_queue_id)
  where is_available = true and job_queue_id > 0;
create index _gw_queue_heads
  on {{.schema}}._private_jobs (job_queue_id, priority, run_at, id) include (task_id)
  where is_available = true and job_queue_id is not null;

-- The order of the queued jobs of one task. Without it, a claim for some tasks visits every queue in which jobs of
-- other tasks are waiting: half a second for 100 000 queues. Costs 17 % for a queued job.
create index _gw_queued_tasks
  on {{.schema}}._private_jobs (task_id, priority, run_at, id) include (job_queue_id)
  where is_available = true and job_queue_id > 0;

-- The running jobs with limits, by lane, and the failed jobs, for operators, as those of lane 0. Who counts a gate anew
-- reads the first. A plain job has no entry unless it fails for good. An update of a job checks the condition, which
-- is what the index costs others; two indexes would cost them twice as much.
create index _gw_unavailable_jobs on {{.schema}}._private_jobs ((case when locked_at is not null then job_queue_id else 0 end), id)
  where not is_available and (locked_at is null or job_queue_id < 0);

-- The incoming jobs of one task. All of them in claim order are in _gw_queue_heads. Costs a limited job the same.
create index _gw_incoming_jobs
  on {{.schema}}._private_jobs (task_id, priority, run_at, id)
  where is_available = true and job_queue_id = -1;

-- Free space in each page for the row version that a claim creates: 401 bytes of WAL per claim instead of 432.
-- Autovacuum keeps its defaults: it runs often enough on a table as small as a queue, and the claim cursor skips the
-- rows that it has not removed yet.
alter table {{.schema}}._private_jobs set (fillfactor = 70);

-- The same for the two versions of a queue's row that a claim and a completion create: 673 bytes of WAL for both
-- together instead of 826.
alter table {{.schema}}._private_job_queues set (fillfactor = 50);

-- A claim changes is_available, so it adds an entry to each index that has all jobs. The index of ids has room for it
-- in the page of the
-- job: no page is split, or searched for entries to delete. The equal entries of jobs without a key are not merged into
-- lists (by PostgreSQL 13 and later), in which that search takes long. Both together: 6.4 us for claim and completion
-- of a job in large batches instead of 8.0. An adopted schema may have other names.
do $$
declare
  command text;
begin
  for command in
    select format('alter index %s set (%s)', i.indexrelid::regclass,
                  case when i.indisprimary then 'fillfactor = 50' else 'deduplicate_items = off' end)
      from pg_index as i
      join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indrelid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass
       and (i.indisprimary
            or a.attname = 'key' and i.indisunique and i.indnatts = 1 and i.indpred is null
               and current_setting('server_version_num')::integer >= 130000)
  loop
    execute command;
  end loop;
end
$$;

comment on index {{.schema}}._gw_queued_jobs is 'The jobs in named queues, in claim order.';
comment on index {{.schema}}._gw_queued_tasks is 'The jobs in named queues by task, in claim order.';
comment on index {{.schema}}._gw_queue_heads is 'Finds the head job of each named queue.';
comment on index {{.schema}}._gw_incoming_jobs is 'The jobs with limits at which no claim has looked yet, by task, in claim order.';
comment on index {{.schema}}._gw_unavailable_jobs is
  'The running jobs with limits by their lane, and the permanently failed jobs with 0 in its place, by id.';

-- Settings, and work that is done for the whole fleet.

create table {{.schema}}._gw_settings (
  name       text        not null constraint _gw_settings_pkey primary key,
  value      text        not null,
  updated_at timestamptz not null default now()
);

create table {{.schema}}._gw_turns (
  name      text        not null constraint _gw_turns_pkey primary key,
  last_at   timestamptz not null default '-infinity',
  error     text,
  failed_at timestamptz
);
insert into {{.schema}}._gw_turns (name)
values ('stale_sweep'), ('recovery'), ('sample'), ('tidy');

-- add_job reads this table and _gw_sleepers with the privileges of its caller. A role that row level security applies
-- to reads all rows as well, if it was granted select: without a policy it would get the defaults.
create policy _gw_readable on {{.schema}}._gw_settings for select using (true);

comment on policy _gw_readable on {{.schema}}._gw_settings is 'A role that was granted select reads all rows.';

comment on table {{.schema}}._gw_settings is 'Fleet-wide settings that differ from their default; see set_setting().';
comment on column {{.schema}}._gw_settings.name is 'The name of the setting.';
comment on column {{.schema}}._gw_settings.value is 'Its value.';
comment on column {{.schema}}._gw_settings.updated_at is 'When it was last set.';

comment on table {{.schema}}._gw_turns is
  'Work for the whole fleet that only one worker does at a time; it locks the row. Work that has failed has a row as well. A missing row is inserted when it is needed.';
comment on column {{.schema}}._gw_turns.name is 'The name of the work.';
comment on column {{.schema}}._gw_turns.last_at is 'When it was last done, for periodic work.';
comment on column {{.schema}}._gw_turns.error is 'Why it failed the last time; null: it did not.';
comment on column {{.schema}}._gw_turns.failed_at is 'When it failed with that error.';

-- Workers.

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
  recovered_at  timestamptz,
  told_at       timestamptz,
  running       integer,
  waiting       integer,
  claimed_ids   bigint[]    not null default '{}',
  drained_at    timestamptz
);

-- Empty except for some time after a worker died: every claim checks whether it is empty. No foreign key, as for
-- contexts.
create table {{.schema}}._gw_suspects (
  job_id     bigint  not null constraint _gw_suspects_pkey primary key,
  queue_name text,
  crashes    integer not null default 0,
  worker_id  text,
  is_alone   boolean not null default true,
  strict     boolean not null default false,
  room_at    timestamptz
);

-- Empty except while canceled jobs are running: each heartbeat checks whether it is empty. No foreign key, as for
-- contexts.
create table {{.schema}}._gw_cancels (
  job_id    bigint not null constraint _gw_cancels_pkey primary key,
  worker_id text   not null,
  reason    text
);

-- One row while a pass of recovery is in progress, otherwise none. Until it has read all jobs, it does not know which
-- job of a claim is the first one of its queue.
create table {{.schema}}._gw_recovery (
  started_at timestamptz not null default clock_timestamp() constraint _gw_recovery_pkey primary key,
  workers    text[]      not null,
  place      bigint      not null default -9223372036854775808,
  job_ids    bigint[]    not null default '{}'
);

-- Unlogged: falling asleep must not wait for the disk. A crash empties the table and breaks every listening connection;
-- a worker that listens again searches for jobs first and then sets a new mark.
create unlogged table {{.schema}}._gw_sleepers (
  worker_id text        not null constraint _gw_sleepers_pkey primary key,
  until     timestamptz not null
) with (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

-- Skips expired marks, including those that an old snapshot keeps from being vacuumed.
create index _gw_sleepers_until on {{.schema}}._gw_sleepers (until);

-- As that of _gw_settings.
create policy _gw_readable on {{.schema}}._gw_sleepers for select using (true);

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
comment on column {{.schema}}._gw_workers.told_at is 'When a heartbeat last told what it holds; null: none did.';
comment on column {{.schema}}._gw_workers.running is 'How many jobs its handlers ran then.';
comment on column {{.schema}}._gw_workers.waiting is 'How many claimed jobs waited for a handler then.';
comment on column {{.schema}}._gw_workers.claimed_ids is 'These jobs, running ones first, the first thousand.';
comment on column {{.schema}}._gw_workers.drained_at is 'Since when it is to claim no more jobs; see drain_worker().';

comment on table {{.schema}}._gw_suspects is
  'Suspects: jobs that a worker held when it died; see get_job_alone(). While they wait, their job_queue_id is -2; otherwise a row counts only while its worker runs the job.';
comment on column {{.schema}}._gw_suspects.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_suspects.queue_name is 'Its named queue, to which it goes back.';
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
comment on column {{.schema}}._gw_recovery.job_ids is 'The jobs of these workers among those that were read; they are freed at the end of the pass.';

comment on policy _gw_readable on {{.schema}}._gw_sleepers is 'A role that was granted select reads all rows.';

comment on table {{.schema}}._gw_sleepers is 'Workers that wait for notifications; see fall_asleep().';
comment on column {{.schema}}._gw_sleepers.worker_id is 'The worker.';
comment on column {{.schema}}._gw_sleepers.until is 'When the mark expires unless the worker renews it.';
comment on index {{.schema}}._gw_sleepers_until is 'Finds a sleeping worker.';

-- Claims.

create unlogged table {{.schema}}._gw_claim_cursors (
  scope  bigint   not null,
  put_at bigint   not null,
  cursor bigint[] not null
);
create index _gw_claim_cursors_newest on {{.schema}}._gw_claim_cursors (scope, put_at);

-- For _gw_take_turn.
create table {{.schema}}._gw_claim_turn ();
create table {{.schema}}._gw_second_claim_turn ();

comment on table {{.schema}}._gw_claim_cursors is 'Claim cursors that all sessions share; see _gw_claim_cursor().';
comment on column {{.schema}}._gw_claim_cursors.scope is 'The scope of the claims.';
comment on column {{.schema}}._gw_claim_cursors.put_at is 'When the cursor was stored, in microseconds since 1970. The newest one counts.';
comment on column {{.schema}}._gw_claim_cursors.cursor is 'The cursor as in the setting gw.claim_cursor.';

comment on table {{.schema}}._gw_claim_turn is 'Without rows: a claim of many jobs locks it, so that only two of them run at a time.';
comment on table {{.schema}}._gw_second_claim_turn is 'Without rows: the other one of the two locks it.';

-- What producers leave beside their jobs.

-- No foreign key: Node workers delete jobs, and must not pay for a feature that they do not have. Nor is there a
-- trigger on the jobs, because it also costs jobs without a context: completing a single job takes 22 us without a
-- trigger, 29 with a statement trigger with a transition table, 37 with a row trigger; one job of 500 takes 1.7, 1.9
-- and 7. So a trigger on this table deletes old contexts when new ones are added.
create table {{.schema}}._gw_job_context (
  job_id   bigint  not null constraint _gw_job_context_pkey primary key,
  revision integer not null,
  context  jsonb   not null
);

-- Where the last search for contexts of deleted jobs ended. A sequence, because it is not locked until the commit.
create sequence {{.schema}}._gw_job_context_cursor minvalue 0 start 0 owned by {{.schema}}._gw_job_context.job_id;

-- The calls of add_job_once, debounce_job and throttle_job by their keys.
create table {{.schema}}._gw_keyed_calls (
  kind       text        not null constraint _gw_keyed_calls_kind_check check (kind in ('once', 'debounce', 'throttle')),
  key        text        not null,
  job_id     bigint,
  began_at   timestamptz not null,
  not_before timestamptz,
  kept_until timestamptz not null,
  constraint _gw_keyed_calls_pkey primary key (kind, key)
);
create index _gw_keyed_calls_kept_until on {{.schema}}._gw_keyed_calls (kept_until);

comment on table {{.schema}}._gw_job_context is 'Contexts of jobs, such as traces, stored by producers; a row may outlive its job for some time.';
comment on column {{.schema}}._gw_job_context.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_job_context.revision is 'Its revision when the context was stored; at another revision the job has no context.';
comment on column {{.schema}}._gw_job_context.context is 'Names and values, as in the headers of a request.';
comment on sequence {{.schema}}._gw_job_context_cursor is 'The id of the job after which the next search for contexts of deleted jobs begins.';

comment on table {{.schema}}._gw_keyed_calls is 'The calls of add_job_once(), debounce_job() and throttle_job() by their keys.';
comment on column {{.schema}}._gw_keyed_calls.kind is 'once, debounce or throttle.';
comment on column {{.schema}}._gw_keyed_calls.key is 'The key of the call and of its job.';
comment on column {{.schema}}._gw_keyed_calls.job_id is 'The job of the first call (once) or of the last one; null only during the first call.';
comment on column {{.schema}}._gw_keyed_calls.began_at is 'once: the time of the first call. debounce: the time of the first call since the job has last started. throttle: the run_at of the last job.';
comment on column {{.schema}}._gw_keyed_calls.not_before is 'debounce: the time of the next attempt of a job that had failed when a call replaced it.';
comment on column {{.schema}}._gw_keyed_calls.kept_until is 'The row is deleted a minute after this time; for debounce and throttle also not before its job has gone.';
comment on index {{.schema}}._gw_keyed_calls_kept_until is 'Finds the rows that were kept long enough.';

-- What attempts of jobs leave for the next ones and for operators. No foreign keys, as for contexts: each deletion of a
-- job would look for rows.
create table {{.schema}}._gw_steps (
  job_id   bigint      not null,
  revision integer     not null,
  name     text        not null,
  result   json        not null,
  saved_at timestamptz not null default clock_timestamp(),
  constraint _gw_steps_pkey primary key (job_id, name)
);
create sequence {{.schema}}._gw_step_cursor minvalue 0 start 0 owned by {{.schema}}._gw_steps.job_id;

create table {{.schema}}._gw_progress (
  job_id      bigint      not null constraint _gw_progress_pkey primary key,
  revision    integer     not null,
  attempt     smallint    not null,
  percent     real,
  note        text,
  reported_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
create sequence {{.schema}}._gw_progress_cursor minvalue 0 start 0 owned by {{.schema}}._gw_progress.job_id;

comment on table {{.schema}}._gw_steps is 'The steps that attempts of jobs have saved; see save_step().';
comment on column {{.schema}}._gw_steps.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_steps.revision is 'The revision of the job that the step belongs to. A replaced job has another one.';
comment on column {{.schema}}._gw_steps.name is 'The name of the step within its job.';
comment on column {{.schema}}._gw_steps.result is 'The result of the step.';
comment on column {{.schema}}._gw_steps.saved_at is 'When the step was saved.';
comment on sequence {{.schema}}._gw_step_cursor is 'The id of the job after which the next search for steps of deleted jobs begins.';

comment on table {{.schema}}._gw_progress is 'How far jobs have come; see set_progress().';
comment on column {{.schema}}._gw_progress.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_progress.revision is 'The revision of the job when it reported its progress.';
comment on column {{.schema}}._gw_progress.attempt is 'The attempts of the job at that time, including the one that reported it.';
comment on column {{.schema}}._gw_progress.percent is 'How much is done, from 0 to 100; null if that is unknown.';
comment on column {{.schema}}._gw_progress.note is 'What the job is doing.';
comment on column {{.schema}}._gw_progress.reported_at is 'When the progress was stored.';
comment on sequence {{.schema}}._gw_progress_cursor is 'The id of the job after which the next search for progress of deleted jobs begins.';

-- Recurring jobs.

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

-- Limits; see sql/functions/README.md for the words. An available job of a task with a limit has -1 in job_queue_id
-- until a claim looks at it (incoming), or the number of its lane. Neither has a row in _private_job_queues, so Node
-- workers do not claim it.

-- Rows are locked by claims: who holds the row of a limit may start jobs under it, and change its gates and lanes.
-- parallel_workers here and
-- below: claims switch sequential scans off, so that a scan of a small table seems expensive enough for parallel
-- workers.
create table {{.schema}}._gw_limits (
  id            integer generated always as identity constraint _gw_limits_pkey primary key,
  name          text    not null constraint _gw_limits_name_key unique,
  tasks         text[],
  by            text,
  max_running   integer constraint _gw_limits_max_running_check check (max_running >= 1),
  total_running integer constraint _gw_limits_total_running_check check (total_running >= 1),
  rate          integer constraint _gw_limits_rate_check check (rate >= 1),
  per           interval,
  burst         integer constraint _gw_limits_burst_check check (burst >= 1),
  fair          boolean not null default false,
  strict        interval,
  generation    bigint  not null,
  theoretic_at  timestamptz not null default 'epoch'
) with (fillfactor = 50, parallel_workers = 0);
create sequence {{.schema}}._gw_limit_generations owned by {{.schema}}._gw_limits.generation;

create table {{.schema}}._gw_gates (
  id           integer generated always as identity constraint _gw_gates_pkey primary key,
  limit_id     integer not null,
  key          text, -- null: of all jobs of the limit
  is_total     boolean not null default false,
  running      integer not null default 0,
  theoretic_at timestamptz not null default 'epoch',
  closed_until timestamptz not null default 'epoch',
  served_at    timestamptz not null default 'epoch',
  max_running  integer,
  rate         integer,
  per          interval,
  burst        integer
) with (fillfactor = 50, parallel_workers = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
create unique index _gw_gates_key on {{.schema}}._gw_gates (limit_id, is_total, coalesce(key, ''), (key is null));

create sequence {{.schema}}._gw_lane_ids as integer increment by -1 minvalue -2147483648 maxvalue -16 start with -16 cycle;

create table {{.schema}}._gw_lanes (
  id         integer   not null constraint _gw_lanes_pkey primary key,
  task_id    integer   not null,
  generation bigint    not null,
  gates      integer[] not null,
  fair_gate  integer,
  gate       integer, -- null: open; 0: no job waits in it
  priority   smallint,
  run_at     timestamptz,
  job_id     bigint,
  running    integer     not null default 0, -- of fair_gate, as served_at
  served_at  timestamptz not null default 'epoch'
) with (fillfactor = 50, parallel_workers = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
alter sequence {{.schema}}._gw_lane_ids owned by {{.schema}}._gw_lanes.id;
-- Where the last sweep over the lanes ended: less the id. A sequence, because it is not locked until the commit.
create sequence {{.schema}}._gw_lane_cursor as bigint minvalue 16 maxvalue 2147483649 start 2147483649 owned by {{.schema}}._gw_lanes.id;
create unique index _gw_lanes_gates on {{.schema}}._gw_lanes (task_id, generation, gates);
create index _gw_lanes_open on {{.schema}}._gw_lanes (task_id, priority, running, served_at, run_at, job_id) where gate is null;
create index _gw_lanes_waiting on {{.schema}}._gw_lanes (gate, task_id, priority, running, served_at, run_at, job_id) where gate > 0;
create index _gw_lanes_in_use on {{.schema}}._gw_lanes (task_id, generation) where gate is distinct from 0;
create index _gw_lanes_fair on {{.schema}}._gw_lanes (fair_gate) where fair_gate is not null;

-- Only inserted into and deleted from. No primary key, because rows are equal.
create table {{.schema}}._gw_gate_ends (
  limit_id     integer     not null,
  gate_id      integer     not null,
  jobs         integer     not null default 0,
  returned     double precision,
  closed_until timestamptz,
  at           timestamptz not null default '-infinity'
) with (parallel_workers = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
alter table {{.schema}}._gw_gate_ends replica identity full; -- a publication may have all tables
create index _gw_gate_ends_limit on {{.schema}}._gw_gate_ends (limit_id, at);
create index _gw_gate_ends_gate on {{.schema}}._gw_gate_ends (gate_id, at);

-- The running jobs of named queues to which limits apply: job_queue_id is that of their queue.
create table {{.schema}}._gw_queued_lanes (
  job_id  bigint  not null constraint _gw_queued_lanes_pkey primary key,
  lane_id integer not null
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- What sweeps had to mend; see _gw_sweep_limits.
create table {{.schema}}._gw_mends (
  id     bigint generated always as identity constraint _gw_mends_pkey primary key,
  at     timestamptz not null default now(),
  mended bigint      not null
);

create table {{.schema}}._gw_pauses (
  id         integer generated always as identity constraint _gw_pauses_pkey primary key,
  task       text,
  queue_name text,
  limit_name text,
  key        text,
  reason     text,
  author     text        not null default session_user,
  paused_at  timestamptz not null default now(),
  until      timestamptz,
  hidden_to  bigint      not null default 0
) with (parallel_workers = 0);

-- Without a row, and so without a page, until the first limit or pause: claims and producers check its size, which
-- costs less than a query.
create table {{.schema}}._gw_limit_changes (
  only_row   boolean     not null default true constraint _gw_limit_changes_pkey primary key check (only_row),
  changed_at timestamptz not null default now()
);

-- A run of a recurring job, and the job added for it; null: none, because a job of another task has the key.
create type {{.schema}}._gw_cron_run as (
  identifier text,
  task       text,
  run        timestamptz,
  job_id     bigint
);

-- A spec of add_jobs with its number, the job_queue_id that it gets, the id of a new row, and the id of its job once it
-- is added.
create type {{.schema}}._gw_keyed_spec as (
  number   integer,
  task_id  integer,
  queue_id integer,
  spec     {{.schema}}.job_spec,
  new_id   bigint,
  job_id   bigint
);

-- What a claim is for, as its parts pass it on. task_ids: null is all tasks. task_flags: see _gw_task_flags.
create type {{.schema}}._gw_claim as (
  worker_id       text,
  task_ids        integer[],
  forbidden_flags text[],
  task_flags      jsonb,
  due             timestamptz,
  claimed_at      timestamptz,
  batch_size      integer,
  queue_batch     integer,
  max_bytes       integer
);

-- A place in the order of jobs. queue_id: the named queue of the job there; null: none.
create type {{.schema}}._gw_place as (
  priority smallint,
  run_at   timestamptz,
  id       bigint,
  queue_id integer
);

-- A task to which limits apply, for a claim that serves it. generation: that of its lanes. by_key: one of the limits
-- has keys.
create type {{.schema}}._gw_limited_task as (
  task_id    integer,
  limit_ids  integer[],
  generation bigint,
  by_key     boolean,
  is_fair    boolean
);

-- A job that a claim looks at while limits apply. priority, run_at, turn, job_id: its place in their order. place,
-- version: its row; without, the lane is empty. queue_id: its named queue. lane_id: its lane; 0: it is still to be
-- made; null: it needs none. gates: those that it passes. is_incoming: it is not in its lane yet. waits: its lane is
-- where it waits, not the incoming jobs. parks: it goes into its lane in any case. starts: it is to start; otherwise it
-- goes into its lane; before that is decided, false: it is to take turns.
create type {{.schema}}._gw_candidate as (
  priority    smallint,
  run_at      timestamptz,
  turn        bigint,
  job_id      bigint,
  place       tid,
  version     xid,
  queue_id    integer,
  lane_id     integer,
  gates       integer[],
  is_incoming boolean,
  waits       boolean,
  parks       boolean,
  starts      boolean
);

-- What a gate has to count: jobs that start (less than 0: that have ended), for how many starts its rate is charged,
-- until when it is closed, and when a job was started.
create type {{.schema}}._gw_gate_change as (
  gate_id      integer,
  jobs         bigint,
  charged      double precision,
  closed_until timestamptz,
  served_at    timestamptz
);

-- What doctor() has found. A remedy that is one statement or command has that on a line of its own.
create type {{.schema}}._gw_finding as (
  severity text,
  finding  text,
  subject  text,
  detail   text,
  remedy   text
);

-- A job that a worker holds no longer: the queue or lane in which it ran, and by which lock.
create type {{.schema}}._gw_ended_job as (
  job_id   bigint,
  queue_id integer,
  held_at  timestamptz
);

-- What becomes of a job that goes back into the table; see _gw_put_back. lease: null is any. message, retry_at,
-- payload: null leaves the value of the job. uncounted: the attempt does not count. permanent: no attempt follows.
create type {{.schema}}._gw_outcome as (
  job_id    bigint,
  lease     bigint,
  message   text,
  retry_at  timestamptz,
  payload   json,
  uncounted boolean,
  permanent boolean
);

comment on table {{.schema}}._gw_limits is 'Limits; see set_limit().';
comment on column {{.schema}}._gw_limits.id is 'The id; of the limits of a job, the first one that is fair determines its turn.';
comment on column {{.schema}}._gw_limits.name is 'The name of the limit.';
comment on column {{.schema}}._gw_limits.tasks is 'The tasks to which it applies; null: all.';
comment on column {{.schema}}._gw_limits.by is 'What gives a job its key: flag:name or payload:field; null: all jobs have one gate.';
comment on column {{.schema}}._gw_limits.max_running is 'How many jobs of a key may run at once.';
comment on column {{.schema}}._gw_limits.total_running is 'How many jobs of all keys may run at once.';
comment on column {{.schema}}._gw_limits.rate is 'How many jobs of a key may start in each per.';
comment on column {{.schema}}._gw_limits.per is 'The interval of the rate.';
comment on column {{.schema}}._gw_limits.burst is 'How many jobs of a key may start at once; null: rate.';
comment on column {{.schema}}._gw_limits.fair is 'Whether the keys take turns.';
comment on column {{.schema}}._gw_limits.strict is 'For how long a recovered job keeps its place at the gates.';
comment on column {{.schema}}._gw_limits.generation is 'Changes when the limit applies to other jobs or has other gates.';
comment on column {{.schema}}._gw_limits.theoretic_at is 'That of gates that are made from now on: what its rate had started when by last changed.';
comment on sequence {{.schema}}._gw_limit_generations is 'The values of _gw_limits.generation.';

comment on table {{.schema}}._gw_gates is 'The counters of limits: one for each key, and one for all keys. Only who holds the row of the limit changes them.';
comment on column {{.schema}}._gw_gates.id is 'The id.';
comment on column {{.schema}}._gw_gates.limit_id is 'The limit.';
comment on column {{.schema}}._gw_gates.key is 'The key; null: of all jobs of the limit.';
comment on column {{.schema}}._gw_gates.is_total is 'Whether it counts the jobs of all keys, for total_running.';
comment on column {{.schema}}._gw_gates.running is 'How many of its jobs run, at most: those that have ended are in _gw_gate_ends until a claim counts them.';
comment on column {{.schema}}._gw_gates.theoretic_at is 'When the rate would be unused if no job started any more.';
comment on column {{.schema}}._gw_gates.closed_until is 'Until when a worker has closed it; see rate_limited().';
comment on column {{.schema}}._gw_gates.served_at is 'When a job was last started.';
comment on column {{.schema}}._gw_gates.max_running is 'See override_lane(); null: the number of the limit.';
comment on column {{.schema}}._gw_gates.rate is 'See override_lane(); null: the number of the limit.';
comment on column {{.schema}}._gw_gates.per is 'See override_lane(); null: the interval of the limit.';
comment on column {{.schema}}._gw_gates.burst is 'See override_lane(); null: the number of the limit.';
comment on index {{.schema}}._gw_gates_key is 'Finds the gate of a key.';

comment on sequence {{.schema}}._gw_lane_ids is 'The ids of lanes. It starts again at its end; an id in use is skipped.';
comment on sequence {{.schema}}._gw_lane_cursor is 'Where the last sweep over the lanes ended.';
comment on table {{.schema}}._gw_lanes is
  'Lanes: the jobs of one task that pass the same gates. Jobs wait in a lane, and running jobs name it, for their end. Only who holds the rows of all limits of the task changes it.';
comment on column {{.schema}}._gw_lanes.id is 'The id, as in job_queue_id of its jobs: -16 or less.';
comment on column {{.schema}}._gw_lanes.task_id is 'The task of its jobs.';
comment on column {{.schema}}._gw_lanes.generation is 'That of the limits of the task when it was made; jobs of a lane of an old generation become incoming again.';
comment on column {{.schema}}._gw_lanes.gates is 'The gates that its jobs pass, in the order of their ids.';
comment on column {{.schema}}._gw_lanes.fair_gate is 'That of the fair limit that determines its turn; null: none.';
comment on column {{.schema}}._gw_lanes.gate is 'The gate for which it waits; null: none, it is open; 0: no job waits in it.';
comment on column {{.schema}}._gw_lanes.priority is 'The place of its first job, or an earlier place.';
comment on column {{.schema}}._gw_lanes.run_at is 'See priority.';
comment on column {{.schema}}._gw_lanes.job_id is 'See priority.';
comment on column {{.schema}}._gw_lanes.running is 'How many jobs of fair_gate run; 0 without.';
comment on column {{.schema}}._gw_lanes.served_at is 'When a job of fair_gate was last started.';
comment on index {{.schema}}._gw_lanes_gates is 'Finds the lane of a job.';
comment on index {{.schema}}._gw_lanes_open is 'The open lanes of a task, in the order in which they are served.';
comment on index {{.schema}}._gw_lanes_waiting is 'The lanes that wait for a gate, in the order in which they are opened.';
comment on index {{.schema}}._gw_lanes_in_use is 'The lanes in which jobs wait, by task: to find those of an old generation.';
comment on index {{.schema}}._gw_lanes_fair is 'The lanes that take their turn from a gate.';

comment on table {{.schema}}._gw_gate_ends is
  'What has ended at gates, and when to look at a gate again. Ends insert; who holds the row of the limit deletes rows that are due and counts them.';
comment on column {{.schema}}._gw_gate_ends.limit_id is 'The limit of the gate.';
comment on column {{.schema}}._gw_gate_ends.gate_id is 'The gate.';
comment on column {{.schema}}._gw_gate_ends.jobs is 'How many jobs run no longer.';
comment on column {{.schema}}._gw_gate_ends.returned is 'How many of their starts a rate takes back; null: none.';
comment on column {{.schema}}._gw_gate_ends.closed_until is 'Closes the gate until then; null: does not.';
comment on column {{.schema}}._gw_gate_ends.at is 'The row does not count before this time.';
comment on index {{.schema}}._gw_gate_ends_limit is 'The rows of a limit by time.';
comment on index {{.schema}}._gw_gate_ends_gate is 'The rows of a gate by time.';

comment on table {{.schema}}._gw_queued_lanes is
  'The lanes of running jobs that have a named queue and limits, and running jobs that were locked when limits changed.';
comment on column {{.schema}}._gw_queued_lanes.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_queued_lanes.lane_id is 'Its lane, for its end; 0: a sweep gives it one.';

comment on table {{.schema}}._gw_mends is 'How many rows sweeps of limits had to mend in the last days, because somebody had changed jobs by hand.';
comment on column {{.schema}}._gw_mends.id is 'The id.';
comment on column {{.schema}}._gw_mends.at is 'When.';
comment on column {{.schema}}._gw_mends.mended is 'How many rows.';

comment on table {{.schema}}._gw_pauses is 'Pauses; see pause().';
comment on column {{.schema}}._gw_pauses.id is 'The id.';
comment on column {{.schema}}._gw_pauses.task is 'The paused task.';
comment on column {{.schema}}._gw_pauses.queue_name is 'The paused queue.';
comment on column {{.schema}}._gw_pauses.limit_name is 'The paused limit.';
comment on column {{.schema}}._gw_pauses.key is 'The paused key of the limit; null: all.';
comment on column {{.schema}}._gw_pauses.reason is 'Why.';
comment on column {{.schema}}._gw_pauses.author is 'The role that paused it.';
comment on column {{.schema}}._gw_pauses.paused_at is 'Since when.';
comment on column {{.schema}}._gw_pauses.until is 'When it ends by itself; null: never.';
comment on column {{.schema}}._gw_pauses.hidden_to is 'Of a task: the id up to which its jobs are hidden from Node workers.';

comment on table {{.schema}}._gw_limit_changes is 'One row, from the first limit or pause on. Who changes limits or pauses updates it, so that a transaction with an old snapshot fails.';
comment on column {{.schema}}._gw_limit_changes.only_row is 'Always true.';
comment on column {{.schema}}._gw_limit_changes.changed_at is 'When limits or pauses were last changed.';

comment on type {{.schema}}._gw_cron_run is 'Internal: a run of a recurring job, and the job added for it.';
comment on type {{.schema}}._gw_keyed_spec is 'Internal: a spec of add_jobs, as its parts pass it on.';
comment on type {{.schema}}._gw_claim is 'Internal: what a claim is for, as its parts pass it on.';
comment on type {{.schema}}._gw_place is 'Internal: a place in the order of jobs.';
comment on type {{.schema}}._gw_limited_task is 'Internal: a task to which limits apply.';
comment on type {{.schema}}._gw_candidate is 'Internal: a job that a claim looks at while limits apply.';
comment on type {{.schema}}._gw_gate_change is 'Internal: what a gate of a limit has to count.';
comment on type {{.schema}}._gw_finding is 'Internal: a problem that doctor() has found.';
comment on type {{.schema}}._gw_ended_job is 'Internal: a job that a worker holds no longer.';
comment on type {{.schema}}._gw_outcome is 'Internal: what becomes of a job that goes back into the table.';

-- For operators.

create table {{.schema}}._gw_audit (
  id        bigint      not null generated always as identity constraint _gw_audit_pkey primary key,
  at        timestamptz not null default clock_timestamp(),
  ended_at  timestamptz,
  act       text        not null,
  jobs      bigint      not null,
  subject   text,
  job_ids   bigint[],
  role      text        not null,
  actor     text,
  selection text,
  operation text
);
create unique index _gw_audit_operations on {{.schema}}._gw_audit (operation, act, role) where operation is not null;
create index _gw_audit_at on {{.schema}}._gw_audit (at);

create table {{.schema}}._gw_samples (
  at                   timestamptz not null constraint _gw_samples_pkey primary key,
  ready                bigint      not null,
  scheduled            bigint      not null,
  running              bigint      not null,
  failed               bigint      not null,
  is_estimate          boolean     not null,
  oldest_ready_seconds double precision,
  workers              bigint      not null,
  added                bigint      not null,
  gone                 bigint      not null
);

-- Functions that Graphile Worker has, too, record what they did with the rights of their caller.
create policy _gw_own on {{.schema}}._gw_audit using (role = session_user::text) with check (role = session_user::text);

comment on policy _gw_own on {{.schema}}._gw_audit is 'A role that was granted rights sees and records its own acts.';

comment on index {{.schema}}._gw_audit_operations is 'Finds the row of an operation.';
comment on index {{.schema}}._gw_audit_at is 'Finds the acts that were kept long enough.';
comment on table {{.schema}}._gw_audit is 'What operators did, for the setting audit_for; see list_audit().';
comment on column {{.schema}}._gw_audit.id is 'The number of the act.';
comment on column {{.schema}}._gw_audit.at is 'When it was done.';
comment on column {{.schema}}._gw_audit.ended_at is 'When its last step was done, if it had several.';
comment on column {{.schema}}._gw_audit.act is 'What was done.';
comment on column {{.schema}}._gw_audit.jobs is 'How many jobs it changed, in all steps.';
comment on column {{.schema}}._gw_audit.subject is 'What it was about beside jobs, such as workers or a setting, or its reason.';
comment on column {{.schema}}._gw_audit.job_ids is 'The first hundred jobs that its first step was about.';
comment on column {{.schema}}._gw_audit.role is 'The role of the session.';
comment on column {{.schema}}._gw_audit.actor is 'Who did it, as the program says in the setting gw.actor.';
comment on column {{.schema}}._gw_audit.selection is 'By which conditions the jobs were selected, as the program says in the setting gw.selection.';
comment on column {{.schema}}._gw_audit.operation is 'The operation that it is a step of, as the program says in the setting gw.operation.';

comment on table {{.schema}}._gw_samples is 'How the queue was, once a minute, for the setting samples_for; see list_samples().';
comment on column {{.schema}}._gw_samples.at is 'When the sample was taken.';
comment on column {{.schema}}._gw_samples.ready is 'The number of ready jobs.';
comment on column {{.schema}}._gw_samples.scheduled is 'The number of scheduled jobs.';
comment on column {{.schema}}._gw_samples.running is 'The number of running jobs.';
comment on column {{.schema}}._gw_samples.failed is 'The number of permanently failed jobs.';
comment on column {{.schema}}._gw_samples.is_estimate is 'Whether these numbers are estimates.';
comment on column {{.schema}}._gw_samples.oldest_ready_seconds is 'How long the oldest ready job had been due; null if none was ready.';
comment on column {{.schema}}._gw_samples.workers is 'The number of registered workers seen in the five minutes before.';
comment on column {{.schema}}._gw_samples.added is 'The jobs that were ever added, as the server counts.';
comment on column {{.schema}}._gw_samples.gone is 'The jobs that were ever deleted, as the server counts.';

-- The history of kept tasks. Claims and completions check the size of this file and of _gw_expected, which costs less
-- than a query.
create table {{.schema}}._gw_kept_tasks (
  task       text        not null constraint _gw_kept_tasks_pkey primary key,
  keep_for   interval    not null,
  payloads   boolean     not null,
  results    boolean     not null,
  kept_since timestamptz not null default clock_timestamp()
);

-- What the statements that end jobs write: a row for the jobs of one task and worker that end together. It has three
-- slots that exist always, so no completion depends on a partition that somebody has to create. The last full slot is
-- moved to _gw_history.
create table {{.schema}}._gw_ended (
  slot         integer       not null,
  drop_on      date          not null,
  first_id     bigint        not null,
  last_id      bigint        not null,
  task         text          not null,
  outcome      text          not null,
  worker_id    text,
  place        text,
  key          text,
  ended_at     timestamptz   not null,
  job_ids      bigint[]      not null,
  started_at   timestamptz[],
  run_at       timestamptz[] not null,
  created_at   timestamptz[],
  attempts     smallint[],
  max_attempts smallint      not null,
  details      text[],
  payload      json,
  result       json
) partition by list (slot);
create table {{.schema}}._gw_ended_0 partition of {{.schema}}._gw_ended for values in (0);
create table {{.schema}}._gw_ended_1 partition of {{.schema}}._gw_ended for values in (1);
create table {{.schema}}._gw_ended_2 partition of {{.schema}}._gw_ended for values in (2);
create index _gw_ended_ids on {{.schema}}._gw_ended (first_id, last_id);

-- A row has up to a thousand attempts of one task, of jobs in a range of 8192 ids, that ended in one hour. A value that
-- all of them have is in a column of its own instead of an array.
create table {{.schema}}._gw_history (
  drop_on        date        not null,
  first_id       bigint      not null,
  last_id        bigint      not null constraint _gw_history_ids_check check (last_id - first_id < 8192),
  task           text        not null,
  max_attempts   smallint    not null,
  first_ended_at timestamptz not null,
  last_ended_at  timestamptz not null,
  attempt_count  integer     not null,
  counts         jsonb       not null,
  id_offsets     smallint[]  not null,
  ended_after    real[]      not null,
  ran            real[]      not null,
  waited         real[]      not null,
  aged           real[],
  attempt        smallint,
  attempts       smallint[],
  outcome        text,
  outcomes       text[],
  worker_id      text,
  worker_ids     text[],
  place          text,
  places         text[],
  keys           text[],
  details        text[],
  payloads       json[],
  results        json[]
) partition by list (drop_on);
create index _gw_history_ids on {{.schema}}._gw_history (first_id, last_id);
create index _gw_history_by_task on {{.schema}}._gw_history (task, last_ended_at);
create index _gw_history_by_time on {{.schema}}._gw_history (last_ended_at);
create index _gw_history_keys on {{.schema}}._gw_history using gin (keys) where keys is not null;

-- Jobs for which somebody waits, or whose result was asked for.
create table {{.schema}}._gw_expected (
  job_id     bigint      not null constraint _gw_expected_pkey primary key,
  kept_until timestamptz not null,
  ended_at   timestamptz,
  outcome    text,
  result     json,
  notifies   boolean     not null default false
);

create index _gw_expected_notifies on {{.schema}}._gw_expected (job_id) where notifies and ended_at is null;

-- When somebody who waits for jobs last waited for the lock on them: seconds since 1970. A sequence, because it is not
-- rolled back.
create sequence {{.schema}}._gw_watch_cursor as bigint minvalue 0 start 0 owned by {{.schema}}._gw_expected.job_id;

-- When attempts began whose locks were renewed.
create table {{.schema}}._gw_long_attempts (
  job_id     bigint      not null constraint _gw_long_attempts_pkey primary key,
  locked_at  timestamptz not null,
  started_at timestamptz not null
);

comment on table {{.schema}}._gw_kept_tasks is 'The tasks whose jobs are recorded; see keep_task().';
comment on column {{.schema}}._gw_kept_tasks.task is 'The name of the task.';
comment on column {{.schema}}._gw_kept_tasks.keep_for is 'For how long its records are kept.';
comment on column {{.schema}}._gw_kept_tasks.payloads is 'Whether payloads are kept.';
comment on column {{.schema}}._gw_kept_tasks.results is 'Whether results are kept.';
comment on column {{.schema}}._gw_kept_tasks.kept_since is 'When keep_task() was first called for it.';

comment on table {{.schema}}._gw_ended is 'Attempts and jobs that have ended, until they are moved to _gw_history; see job_history().';
comment on table {{.schema}}._gw_ended_0 is 'The first slot of _gw_ended.';
comment on table {{.schema}}._gw_ended_1 is 'The second slot of _gw_ended.';
comment on table {{.schema}}._gw_ended_2 is 'The third slot of _gw_ended.';
comment on column {{.schema}}._gw_ended.slot is 'The slot: each has the records of ten minutes, one after the other.';
comment on column {{.schema}}._gw_ended.drop_on is 'The day on which the record is dropped.';
comment on column {{.schema}}._gw_ended.first_id is 'The lowest id of its jobs.';
comment on column {{.schema}}._gw_ended.last_id is 'The highest id of its jobs.';
comment on column {{.schema}}._gw_ended.task is 'Their task.';
comment on column {{.schema}}._gw_ended.outcome is 'The outcome, as in job_history().';
comment on column {{.schema}}._gw_ended.worker_id is 'The worker that held them; null: none.';
comment on column {{.schema}}._gw_ended.place is 'Their queue and lanes.';
comment on column {{.schema}}._gw_ended.key is 'The key of the job; a job with a key has a row of its own.';
comment on column {{.schema}}._gw_ended.ended_at is 'When they ended.';
comment on column {{.schema}}._gw_ended.job_ids is 'Their ids, ascending.';
comment on column {{.schema}}._gw_ended.started_at is 'When they were claimed; one element if at the same time.';
comment on column {{.schema}}._gw_ended.run_at is 'When they were due.';
comment on column {{.schema}}._gw_ended.created_at is 'When they were created; null: when they were due.';
comment on column {{.schema}}._gw_ended.attempts is 'The numbers of the attempts; null: 1.';
comment on column {{.schema}}._gw_ended.max_attempts is 'Their max_attempts.';
comment on column {{.schema}}._gw_ended.details is 'The first lines of errors.';
comment on column {{.schema}}._gw_ended.payload is 'The payload of the only job of the row.';
comment on column {{.schema}}._gw_ended.result is 'The result of the only job of the row.';
comment on index {{.schema}}._gw_ended_ids is 'Finds the records of a job.';

comment on table {{.schema}}._gw_history is 'Attempts and jobs that have ended, packed; a partition for each day on which records are dropped. See job_history().';
comment on column {{.schema}}._gw_history.drop_on is 'The day on which the records are dropped.';
comment on column {{.schema}}._gw_history.first_id is 'The lowest id of its jobs.';
comment on column {{.schema}}._gw_history.last_id is 'The highest id of its jobs.';
comment on column {{.schema}}._gw_history.task is 'Their task.';
comment on column {{.schema}}._gw_history.max_attempts is 'Their max_attempts.';
comment on column {{.schema}}._gw_history.first_ended_at is 'When the first of the attempts ended.';
comment on column {{.schema}}._gw_history.last_ended_at is 'When the last of them ended.';
comment on column {{.schema}}._gw_history.attempt_count is 'The number of attempts.';
comment on column {{.schema}}._gw_history.counts is 'The number of attempts by outcome.';
comment on column {{.schema}}._gw_history.id_offsets is 'The ids of the jobs, less first_id, ascending.';
comment on column {{.schema}}._gw_history.ended_after is 'When the attempts ended, in seconds after first_ended_at.';
comment on column {{.schema}}._gw_history.ran is 'The seconds from the claim to the end; null without a claim.';
comment on column {{.schema}}._gw_history.waited is 'The seconds from run_at to the claim, or to the end without a claim.';
comment on column {{.schema}}._gw_history.aged is 'The seconds from the creation to run_at; null: none for all.';
comment on column {{.schema}}._gw_history.attempt is 'The number of the attempts, if it is the same.';
comment on column {{.schema}}._gw_history.attempts is 'Their numbers otherwise.';
comment on column {{.schema}}._gw_history.outcome is 'The outcome, if it is the same.';
comment on column {{.schema}}._gw_history.outcomes is 'The outcomes otherwise.';
comment on column {{.schema}}._gw_history.worker_id is 'The worker, if it is the same.';
comment on column {{.schema}}._gw_history.worker_ids is 'The workers otherwise; null: none.';
comment on column {{.schema}}._gw_history.place is 'The queue and lanes, if they are the same.';
comment on column {{.schema}}._gw_history.places is 'The queues and lanes otherwise; null: none.';
comment on column {{.schema}}._gw_history.keys is 'The keys; null: none.';
comment on column {{.schema}}._gw_history.details is 'The first lines of errors; null: none.';
comment on column {{.schema}}._gw_history.payloads is 'The payloads; null: none is kept.';
comment on column {{.schema}}._gw_history.results is 'The results; null: none is kept.';
comment on index {{.schema}}._gw_history_ids is 'Finds the records of a job.';
comment on index {{.schema}}._gw_history_by_task is 'The records of a task by time.';
comment on index {{.schema}}._gw_history_by_time is 'The records by time.';
comment on index {{.schema}}._gw_history_keys is 'Finds the records under a key.';

comment on table {{.schema}}._gw_expected is 'Jobs for which somebody waits, or whose result was asked for; see expect_result() and await_jobs().';
comment on column {{.schema}}._gw_expected.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_expected.kept_until is 'The row is deleted after this time.';
comment on column {{.schema}}._gw_expected.ended_at is 'When the job ended; null: it has not, or has failed.';
comment on column {{.schema}}._gw_expected.outcome is 'How it ended: completed or removed.';
comment on column {{.schema}}._gw_expected.result is 'The result that its worker reported.';
comment on column {{.schema}}._gw_expected.notifies is 'Whether somebody waits for a notification; see await_jobs().';
comment on index {{.schema}}._gw_expected_notifies is 'The jobs for whose ends somebody waits.';

comment on sequence {{.schema}}._gw_watch_cursor is 'When await_jobs() last waited for the lock on the jobs: seconds since 1970.';

comment on table {{.schema}}._gw_long_attempts is 'When attempts began whose locks were renewed, for the history.';
comment on column {{.schema}}._gw_long_attempts.job_id is 'The id of the job.';
comment on column {{.schema}}._gw_long_attempts.locked_at is 'The renewed time of its lock.';
comment on column {{.schema}}._gw_long_attempts.started_at is 'When it was claimed.';

-- Migrations and grants.

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

comment on table {{.schema}}._gw_installed is 'Digests of the functions and triggers that the migrations installed, for doctor() to compare with.';
comment on column {{.schema}}._gw_installed.object is 'The function or trigger.';
comment on column {{.schema}}._gw_installed.digest is 'The MD5 sum of its definition.';

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

-- Row level security hides the tables from roles other than the owner. Their programs read only the two tables of
-- versions, as they read migrations.
do $$
declare
  hidden regclass;
begin
  for hidden in
    select c.oid
      from pg_class as c
     where c.relnamespace = '{{ replace "'" "''" .schema }}'::regnamespace and c.relkind in ('r', 'p')
       and starts_with(c.relname, '_gw_') and c.relname not in ('_gw_breaking_versions', '_gw_schema_version')
  loop
    execute format('alter table %s enable row level security', hidden);
  end loop;
end
$$;
