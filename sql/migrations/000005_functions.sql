-- The functions that differ from those of the release before, in snapshots/000005; both are written by make snapshot. Add by
-- hand what else changes: what the functions need before they are installed, what needs them after that.
-- Limits. A job that a limit applies to has a group in job_queue_id, a negative number without a row in
-- _private_job_queues: Node workers do not claim it. The indexes of jobs in named queues leave these jobs out.
drop index {{.schema}}._gw_queued_jobs;
create index _gw_queued_jobs
  on {{.schema}}._private_jobs (priority, run_at, id) include (task_id, job_queue_id)
  where is_available = true and job_queue_id > 0;
drop index {{.schema}}._gw_queued_tasks;
create index _gw_queued_tasks
  on {{.schema}}._private_jobs (task_id, priority, run_at, id) include (job_queue_id)
  where is_available = true and job_queue_id > 0;

-- Almost always empty or small. add_job checks the size of the file, which costs less than a query.
create table {{.schema}}._gw_limits (
  id            integer generated always as identity constraint _gw_limits_pkey primary key,
  name          text    not null constraint _gw_limits_name_key unique,
  tasks         text[],
  queues        text,
  by            text,
  max_running   integer constraint _gw_limits_max_running_check check (max_running >= 1),
  total_running integer constraint _gw_limits_total_running_check check (total_running >= 1),
  rate          integer constraint _gw_limits_rate_check check (rate >= 1),
  per           interval,
  burst         integer constraint _gw_limits_burst_check check (burst >= 1),
  fair          boolean not null default false,
  strict        interval,
  is_pause      boolean not null default false
);

create table {{.schema}}._gw_lanes (
  id           integer generated always as identity constraint _gw_lanes_pkey primary key,
  limit_id     integer not null,
  key          text, -- null: of all jobs of the limit
  is_total     boolean not null default false,
  max_running  integer,
  rate         integer,
  per          interval,
  burst        integer,
  theoretic_at timestamptz not null default 'epoch',
  closed_until timestamptz not null default 'epoch',
  served_at    timestamptz,
  turn         bigint
) with (fillfactor = 50);

create unique index _gw_lanes_key on {{.schema}}._gw_lanes (limit_id, is_total, coalesce(key, ''), (key is null));

create index _gw_lanes_rate on {{.schema}}._gw_lanes (limit_id) where rate is not null;

create table {{.schema}}._gw_groups (
  id         integer generated always as identity (start with -1 increment by -1)
             constraint _gw_groups_pkey primary key,
  lanes      integer[] not null,
  tasks      text[],
  queue_name text,
  fair_lane  integer,
  is_retired boolean   not null default false
);

create unique index _gw_groups_lanes on {{.schema}}._gw_groups (lanes, coalesce(queue_name, ''), (queue_name is null))
  where not is_retired;
create index _gw_groups_by_lane on {{.schema}}._gw_groups using gin (lanes);
create index _gw_groups_fair on {{.schema}}._gw_groups (fair_lane) where fair_lane is not null;

create table {{.schema}}._gw_slots (
  lane_id    integer     not null,
  job_id     bigint      not null,
  locked_at  timestamptz not null,
  free_at    timestamptz,
  kept_until timestamptz,
  constraint _gw_slots_pkey primary key (lane_id, job_id)
);

create index _gw_slots_job on {{.schema}}._gw_slots (job_id);

create table {{.schema}}._gw_fronts (
  group_id  integer,
  lane_id   integer,
  barred_by integer,
  priority  smallint    not null,
  run_at    timestamptz not null,
  job_id    bigint      not null,
  covers    timestamptz, -- null: a lane
  turn      bigint
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

create index _gw_fronts_due on {{.schema}}._gw_fronts (run_at) include (group_id, lane_id)
  where barred_by is null and run_at < 'infinity'; -- so that claims do not read it in place of those below
create index _gw_fronts_order on {{.schema}}._gw_fronts (priority, run_at, job_id) include (group_id)
  where barred_by is null and group_id is not null and lane_id is null and turn is null;
create index _gw_fronts_turn on {{.schema}}._gw_fronts (priority, turn, run_at, job_id) include (group_id)
  where barred_by is null and turn is not null;
create index _gw_fronts_barred on {{.schema}}._gw_fronts (barred_by) where barred_by is not null;
create index _gw_fronts_barred_order on {{.schema}}._gw_fronts (barred_by, priority, run_at, job_id)
  where barred_by is not null and turn is null;
create index _gw_fronts_barred_turn on {{.schema}}._gw_fronts (barred_by, priority, turn, run_at, job_id)
  where barred_by is not null and turn is not null;
create index _gw_fronts_group on {{.schema}}._gw_fronts (group_id) where group_id is not null;
create index _gw_fronts_lane on {{.schema}}._gw_fronts (run_at, lane_id) where lane_id is not null;

create table {{.schema}}._gw_moves (
  id        integer generated always as identity constraint _gw_moves_pkey primary key,
  tasks     text[],
  queues    text,
  bars      boolean not null,
  producers text[],
  rows_held boolean not null default true,
  next_at   timestamptz not null default 'epoch',
  place     bigint,
  is_last   boolean not null default false,
  left_over boolean not null default false
);

create table {{.schema}}._gw_pauses (
  id         integer generated always as identity constraint _gw_pauses_pkey primary key,
  task       text,
  queue_name text,
  limit_name text,
  lane       text,
  reason     text,
  author     text        not null default session_user,
  paused_at  timestamptz not null default now(),
  until      timestamptz
);

create table {{.schema}}._gw_limit_changes (
  only_row   boolean     not null default true constraint _gw_limit_changes_pkey primary key check (only_row),
  changed_at timestamptz not null default now()
);
insert into {{.schema}}._gw_limit_changes default values;
insert into {{.schema}}._gw_turns (name, last_at) values ('idle_lanes', '-infinity');

alter table {{.schema}}._gw_limits        enable row level security;
alter table {{.schema}}._gw_lanes         enable row level security;
alter table {{.schema}}._gw_groups        enable row level security;
alter table {{.schema}}._gw_slots         enable row level security;
alter table {{.schema}}._gw_fronts        enable row level security;
alter table {{.schema}}._gw_moves         enable row level security;
alter table {{.schema}}._gw_pauses        enable row level security;
alter table {{.schema}}._gw_limit_changes enable row level security;

comment on index {{.schema}}._gw_queued_jobs is 'The jobs in named queues, in claim order.';
comment on index {{.schema}}._gw_queued_tasks is 'The jobs in named queues by task, in claim order.';

comment on table {{.schema}}._gw_limits is 'Limits; see set_limit().';
comment on column {{.schema}}._gw_limits.id is 'The id that lanes refer to.';
comment on column {{.schema}}._gw_limits.name is 'The name of the limit.';
comment on column {{.schema}}._gw_limits.tasks is 'The tasks that it applies to; null: all.';
comment on column {{.schema}}._gw_limits.queues is 'The pattern of the named queues that it applies to; null: jobs without a queue.';
comment on column {{.schema}}._gw_limits.by is 'What gives a job its lane; null: one lane for all jobs.';
comment on column {{.schema}}._gw_limits.max_running is 'How many jobs of a lane run at once.';
comment on column {{.schema}}._gw_limits.total_running is 'How many jobs of all lanes together run at once.';
comment on column {{.schema}}._gw_limits.rate is 'How many jobs of a lane start per interval.';
comment on column {{.schema}}._gw_limits.per is 'That interval.';
comment on column {{.schema}}._gw_limits.burst is 'How many of them may start at once.';
comment on column {{.schema}}._gw_limits.fair is 'Whether its lanes take turns.';
comment on column {{.schema}}._gw_limits.strict is 'For how long a job of a dead worker keeps its slots after its recovery; null: no time.';
comment on column {{.schema}}._gw_limits.is_pause is 'Whether pause() made it, and resume() drops it.';

comment on table {{.schema}}._gw_lanes is 'The lanes of limits. Who changes what a lane allows, or its slots, holds the lock of its row.';
comment on column {{.schema}}._gw_lanes.id is 'The id that groups and slots refer to.';
comment on column {{.schema}}._gw_lanes.limit_id is 'The limit; if it does not exist, the jobs of the lane wait until they are moved.';
comment on column {{.schema}}._gw_lanes.key is 'The key of its jobs; null: one lane for all jobs.';
comment on column {{.schema}}._gw_lanes.is_total is 'Whether it counts the jobs of all other lanes of the limit, too.';
comment on column {{.schema}}._gw_lanes.max_running is 'In place of that of the limit.';
comment on column {{.schema}}._gw_lanes.rate is 'In place of that of the limit.';
comment on column {{.schema}}._gw_lanes.per is 'In place of that of the limit.';
comment on column {{.schema}}._gw_lanes.burst is 'In place of that of the limit.';
comment on column {{.schema}}._gw_lanes.theoretic_at is 'When the starts up to now would have ended at the rate of the lane (GCRA).';
comment on column {{.schema}}._gw_lanes.closed_until is 'No job starts before this time; see rate_limited().';
comment on column {{.schema}}._gw_lanes.served_at is 'When a job of the lane was last started.';
comment on column {{.schema}}._gw_lanes.turn is 'Its turn among the lanes of fair limits, see _gw_turn(); null: its limit is not fair, or it counts all lanes.';

comment on table {{.schema}}._gw_groups is 'Jobs that the same limits apply to, with the same lanes.';
comment on column {{.schema}}._gw_groups.id is 'The job_queue_id of its jobs, negative.';
comment on column {{.schema}}._gw_groups.lanes is 'Their lanes, ascending.';
comment on column {{.schema}}._gw_groups.tasks is 'The tasks of the limits; null: all.';
comment on column {{.schema}}._gw_groups.queue_name is 'The name of their queue, if they are in one.';
comment on column {{.schema}}._gw_groups.fair_lane is 'The one of these lanes by whose turn its jobs are claimed; null: no limit is fair.';
comment on column {{.schema}}._gw_groups.is_retired is 'Whether a limit has changed since: its jobs are not claimed until they are moved.';

comment on table {{.schema}}._gw_slots is 'Jobs that run in lanes. A slot counts while the job has this locked_at, so that nothing has to free it.';
comment on column {{.schema}}._gw_slots.lane_id is 'The lane.';
comment on column {{.schema}}._gw_slots.job_id is 'The job; negative for a slot that is kept after its recovery.';
comment on column {{.schema}}._gw_slots.locked_at is 'Its locked_at.';
comment on column {{.schema}}._gw_slots.free_at is 'When the lane would have used up its rate without this start.';
comment on column {{.schema}}._gw_slots.kept_until is 'Until when the slot counts although its job was recovered; null otherwise.';

comment on table {{.schema}}._gw_fronts is 'Where claims look for jobs with limits. Only claims delete rows, and only of lanes that they have locked.';
comment on column {{.schema}}._gw_fronts.group_id is 'A group that has a job at this place.';
comment on column {{.schema}}._gw_fronts.lane_id is 'Or a lane that may start jobs again from run_at on. With a group: its fair lane, whose turn is to be looked up first.';
comment on column {{.schema}}._gw_fronts.barred_by is 'The lane that bars the group; null: none does.';
comment on column {{.schema}}._gw_fronts.priority is 'The priority of the job.';
comment on column {{.schema}}._gw_fronts.run_at is 'When to look.';
comment on column {{.schema}}._gw_fronts.job_id is 'The job.';
comment on column {{.schema}}._gw_fronts.covers is
  'It stands for the jobs of its group at this place and behind it that are due by then; infinity: for all that are due at run_at or later.';
comment on column {{.schema}}._gw_fronts.turn is 'The turn of the fair lane of the group, or an earlier one.';

comment on table {{.schema}}._gw_moves is 'Changes of limits whose jobs are not all in their groups yet.';
comment on column {{.schema}}._gw_moves.id is 'The order of the changes.';
comment on column {{.schema}}._gw_moves.tasks is 'The tasks of these jobs; null: all.';
comment on column {{.schema}}._gw_moves.queues is 'The names of the queues of these jobs, with *; null: jobs without a queue.';
comment on column {{.schema}}._gw_moves.bars is 'Whether claims take none of these jobs outside of groups: a limit is new.';
comment on column {{.schema}}._gw_moves.producers is 'The transactions that may add such jobs without their groups: those that held name locks when the first pass began, and are open.';
comment on column {{.schema}}._gw_moves.rows_held is 'Whether such transactions may hold rows of tasks instead.';
comment on column {{.schema}}._gw_moves.next_at is 'When the next step may be made.';
comment on column {{.schema}}._gw_moves.place is 'The id of the last job that this pass has read; null: a pass begins.';
comment on column {{.schema}}._gw_moves.is_last is 'Whether no job that does not know of the change can come after the begin of this pass.';
comment on column {{.schema}}._gw_moves.left_over is 'Whether this pass has skipped locked jobs.';

comment on table {{.schema}}._gw_pauses is 'Pauses; see pause().';
comment on column {{.schema}}._gw_pauses.id is 'The order of the pauses.';
comment on column {{.schema}}._gw_pauses.task is 'The task that is paused.';
comment on column {{.schema}}._gw_pauses.queue_name is 'The named queue that is paused.';
comment on column {{.schema}}._gw_pauses.limit_name is 'The limit that is paused. Without any of these three: everything.';
comment on column {{.schema}}._gw_pauses.lane is 'The lane of the limit; null: all.';
comment on column {{.schema}}._gw_pauses.reason is 'Why.';
comment on column {{.schema}}._gw_pauses.author is 'The role that paused it.';
comment on column {{.schema}}._gw_pauses.paused_at is 'Since when.';
comment on column {{.schema}}._gw_pauses.until is 'When it ends by itself.';

comment on table {{.schema}}._gw_limit_changes is 'One row. A producer with an old snapshot locks it and fails if limits have changed since.';
comment on column {{.schema}}._gw_limit_changes.only_row is 'True.';
comment on column {{.schema}}._gw_limit_changes.changed_at is 'When the limits last changed.';

-- The failed jobs, for operators. It has no entry unless a job fails for good. An update of a job checks its condition, which
-- is what it costs others: 1.3 % of the instructions of a claim of one job. A comparison of the attempts would cost half as much again.
create index _gw_failed_jobs on {{.schema}}._private_jobs (id) where locked_at is null and not is_available;

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
insert into {{.schema}}._gw_turns (name, last_at) values ('sample', '-infinity'), ('claim', '-infinity');

drop table {{.schema}}._gw_claim_cursors;
create unlogged table {{.schema}}._gw_claim_cursors (
  scope  bigint   not null,
  put_at bigint   not null,
  cursor bigint[] not null
);
create index _gw_claim_cursors_newest on {{.schema}}._gw_claim_cursors (scope, put_at);
alter table {{.schema}}._gw_claim_cursors enable row level security;
comment on table {{.schema}}._gw_claim_cursors is 'Claim cursors that all sessions share; see _gw_claim_cursor().';
comment on column {{.schema}}._gw_claim_cursors.scope is 'The scope of the claims.';
comment on column {{.schema}}._gw_claim_cursors.put_at is 'When the cursor was stored, in microseconds since 1970. The newest one counts.';
comment on column {{.schema}}._gw_claim_cursors.cursor is 'The cursor as in the setting gw.claim_cursor.';

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
alter table {{.schema}}._gw_keyed_calls enable row level security;
comment on table {{.schema}}._gw_keyed_calls is 'The calls of add_job_once(), debounce_job() and throttle_job() by their keys.';
comment on column {{.schema}}._gw_keyed_calls.kind is 'once, debounce or throttle.';
comment on column {{.schema}}._gw_keyed_calls.key is 'The key of the call and of its job.';
comment on column {{.schema}}._gw_keyed_calls.job_id is 'The job of the first call (once) or of the last one; null only during the first call.';
comment on column {{.schema}}._gw_keyed_calls.began_at is 'once: the time of the first call. debounce: the time of the first call since the job has last started. throttle: the run_at of the last job.';
comment on column {{.schema}}._gw_keyed_calls.not_before is 'The time of the next attempt of a job that had failed when a call replaced it.';
comment on column {{.schema}}._gw_keyed_calls.kept_until is 'The row is deleted after this time; for debounce and throttle also not before its job has gone.';
comment on index {{.schema}}._gw_keyed_calls_kept_until is 'Finds the rows that were kept long enough.';

alter table {{.schema}}._gw_audit   enable row level security;
alter table {{.schema}}._gw_samples enable row level security;

-- Functions that Graphile Worker has, too, record what they did with the rights of their caller.
create policy _gw_own on {{.schema}}._gw_audit using (role = session_user::text) with check (role = session_user::text);
comment on policy _gw_own on {{.schema}}._gw_audit is 'A role that was granted rights sees and records its own acts.';

comment on index {{.schema}}._gw_failed_jobs is 'The permanently failed jobs, by id.';
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

{{ install_snapshot "000005" }}

select {{.schema}}._gw_finish_migration();
