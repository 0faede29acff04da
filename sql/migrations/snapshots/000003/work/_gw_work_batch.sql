-- Runs a batch of jobs of a task inside the server, in this transaction: locks the next due jobs, calls a function or a
-- procedure with the payload of each, in their order, deletes the jobs that succeeded, and records the failure of the others, which
-- do not undo their neighbours. The commit ends all of it, so the effects of each job are committed exactly once.
-- handler: the name of the function with its schema, quoted where needed; its argument is of payload_type (json or jsonb).
-- is_procedure: it is called by CALL. slot: see _gw_begin_batches, which the worker calls before.
-- from_priority, from_run_at, from_id: where to search; see _gw_lock_batch. last_priority, last_run_at and last_id are the place of
-- the last job that was found, where the next batch may begin if this one was not stopped.
-- The batch ends after max_time, between two jobs; the rest of its jobs are unlocked by the commit. Run it with a statement_timeout, because a
-- function that hangs is not interrupted otherwise.
--
-- ran: the number of jobs that ran. ids: these jobs, or, unless details is true, only those that failed. failed: the positions in ids of
-- those that failed, with their messages and new states in the arrays messages, states, attempts, maxima (max_attempts) and retry_in
-- (seconds). lease: when the batch began, as in a claim. priorities, run_ats, created_ats and max_attempts belong to ids; they are
-- null unless details is true. locked: the number of jobs that were found. mean: seconds that a job took. next_size: the
-- batch_size of the next call. stopped_by: why not all of these jobs ran: time, or the SQLSTATE of an error that may be due to the
-- batch and not to its job, such as a lock that was not available within 100 ms: then the next job must run by a claim.
--
-- The value of a function is the result of its job, where somebody asked for it; void, null and a procedure have none. The job
-- fails with GWWRS if it has more bytes than the setting max_result.
--
-- The handlers have no search_path and no planner settings of ours, so this function sets none.
-- Locks: the jobs; skips rows that other transactions have locked. Sets lock_timeout for the rest of the transaction.
-- Raises GWWBC if a handler changes a job of the batch, GWWBH if handler is not the name of one, GWWBI above READ COMMITTED; 57014 and P0004 (assert_failure) of handlers. Nothing
-- of the batch is done then.
--
-- A subtransaction for each job would cost more than all the rest. So each is for up to 32 jobs. If one fails, its jobs run
-- again one at a time within one subtransaction, which shows which job fails; the jobs before that one run once more, for good.
-- A job that is run again has left no effects, except what no rollback undoes, such as numbers of a sequence.
create or replace function {{.schema}}._gw_work_batch(
  worker_id         text,
  slot              integer,
  handler           text,
  payload_type      text        default 'json',
  is_procedure      boolean     default false,
  batch_size        integer     default 100,
  details           boolean     default false,
  from_priority     smallint    default null,
  from_run_at       timestamptz default null,
  from_id           bigint      default null,
  max_time          interval    default '50 milliseconds',
  out ran           integer,
  out ids           bigint[],
  out failed        integer[],
  out messages      text[],
  out states        text[],
  out attempts      smallint[],
  out maxima        smallint[],
  out retry_in      double precision[],
  out priorities    smallint[],
  out run_ats       timestamptz[],
  out created_ats   timestamptz[],
  out max_attempts  smallint[],
  out lease         bigint,
  out locked        integer,
  out last_priority smallint,
  out last_run_at   timestamptz,
  out last_id       bigint,
  out mean          double precision,
  out next_size     integer,
  out stopped_by    text
)
  language plpgsql
as $$
declare
  batch     record;
  payloads  json[];
  wanted    boolean[]; -- the results that somebody asked for, null if none
  results   json[];
  result    json;
  parts     text[] := pg_catalog.parse_ident(handler);
  call      text;
  calls     refcursor; -- of the jobs from the next one on, without the bad one
  chunk     integer := greatest(1, least(32, batch_size operator(pg_catalog./) 5));
  next      integer := 1; -- the first job that has not run
  upto      integer;
  done      integer; -- the jobs before this chunk, and those of it
  keeps     boolean;
  bad       integer; -- a job that is known to fail
  singly    boolean := is_procedure; -- the next chunk is run one by one
  problem   text[];
  detail    text;
  hint      text;
  context   text;
  chunks    integer := 0;
  began_at  timestamptz;
  outcomes  record;
begin
  lease := {{.schema}}._gw_lease(pg_catalog.clock_timestamp());
  if pg_catalog.cardinality(parts) operator(pg_catalog.<>) 2 then
    raise exception 'The handler of a batch must have a schema and a name, as in app.send_mail, not %.', handler using errcode = 'GWWBH';
  end if;
  keeps := not is_procedure and {{.schema}}._gw_keeps();
  batch := {{.schema}}._gw_lock_batch(worker_id, slot, batch_size, details or keeps, from_priority, from_run_at, from_id);
  locked := coalesce(pg_catalog.cardinality(batch.places), 0);
  next_size := batch_size;
  ran := 0;
  ids := '{}';
  failed := '{}';
  messages := '{}';
  if locked operator(pg_catalog.=) 0 then
    return;
  end if;
  perform {{.schema}}._gw_limit_lock_waits();
  if is_procedure then
    call := pg_catalog.format('call %I.%I($1::pg_catalog.%I)', parts[1], parts[2], payload_type);
  elsif keeps then
    wanted := {{.schema}}._gw_wanted_results(batch.ids);
  end if;
  if wanted is not null then
    call := pg_catalog.format('
      select case when r.wanted and pg_catalog.pg_typeof(r.result) operator(pg_catalog.<>) ''void''::pg_catalog.regtype
                  then pg_catalog.to_json(r.result) end
        from (select %I.%I(u.payload::pg_catalog.%I) as result, u.wanted
                from (select pg_catalog.unnest($1) as payload, pg_catalog.unnest($2) as wanted) as u
              offset 0) as r', parts[1], parts[2], payload_type);
  elsif not is_procedure then
    call := pg_catalog.format('select %I.%I(u.payload::pg_catalog.%I) is null from (select pg_catalog.unnest($1) as payload) as u',
                              parts[1], parts[2], payload_type);
  end if;
  payloads := batch.payloads;
  began_at := pg_catalog.clock_timestamp();
  while next operator(pg_catalog.<=) locked loop
    if calls is null and not is_procedure then
      open calls for execute call using case
        when bad is null then payloads[next : locked]
        else payloads[next : bad operator(pg_catalog.-) 1] operator(pg_catalog.||) payloads[bad operator(pg_catalog.+) 1 : locked] end,
        case
        when bad is null then wanted[next : locked]
        else wanted[next : bad operator(pg_catalog.-) 1] operator(pg_catalog.||) wanted[bad operator(pg_catalog.+) 1 : locked] end;
    end if;
    upto := least(next operator(pg_catalog.+) chunk, locked operator(pg_catalog.+) 1, bad) operator(pg_catalog.-) 1;
    done := next operator(pg_catalog.-) 1;
    chunks := chunks operator(pg_catalog.+) 1;
    problem := null;
    begin
      if not singly and wanted is null then
        move forward (upto operator(pg_catalog.-) done) from calls;
        done := upto;
      else
        while done operator(pg_catalog.<) upto loop
          if is_procedure then
            execute call using payloads[done operator(pg_catalog.+) 1];
          elsif wanted is not null then
            fetch calls into result;
            if wanted[done operator(pg_catalog.+) 1] then
              perform {{.schema}}._gw_check_results(batch.ids[done operator(pg_catalog.+) 1 : done operator(pg_catalog.+) 1], array[result]);
              results[done operator(pg_catalog.+) 1] := result;
            end if;
          else
            move forward 1 from calls;
          end if;
          done := done operator(pg_catalog.+) 1;
        end loop;
      end if;
    exception when others then
      get stacked diagnostics detail = pg_exception_detail, hint = pg_exception_hint, context = pg_exception_context;
      problem := array[sqlstate, sqlerrm, detail, hint, context];
    end;

    if problem is null then
      next := upto operator(pg_catalog.+) 1;
      singly := is_procedure or failed operator(pg_catalog.<>) '{}'; -- if one fails, others do
    else
      calls := null; -- the server has closed it
      if bad is not null and (singly or {{.schema}}._gw_is_due_to_batch(problem[1])) then
        -- A job before the bad one, which did not fail the last time: the bad one runs again later.
        failed := failed[: pg_catalog.cardinality(failed) operator(pg_catalog.-) 1];
        messages := messages[: pg_catalog.cardinality(messages) operator(pg_catalog.-) 1];
        bad := null;
      end if;
      if {{.schema}}._gw_is_due_to_batch(problem[1]) then
        stopped_by := problem[1];
        exit;
      elsif not singly then
        singly := true;
      else
        singly := is_procedure;
        bad := done operator(pg_catalog.+) 1;
        failed := failed operator(pg_catalog.||) bad;
        messages := messages operator(pg_catalog.||) {{.schema}}._gw_handler_error(handler, problem);
      end if;
    end if;
    if next operator(pg_catalog.=) bad then
      next := next operator(pg_catalog.+) 1;
      bad := null;
    end if;
    if bad is null and (chunks operator(pg_catalog.>=) 60
                        or pg_catalog.clock_timestamp() operator(pg_catalog.-) began_at operator(pg_catalog.>) max_time) then
      exit;
    end if;
  end loop;
  if calls is not null then
    close calls;
  end if;

  next := next operator(pg_catalog.-) 1;
  if next operator(pg_catalog.>) 0 then
    mean := extract(epoch from pg_catalog.clock_timestamp() operator(pg_catalog.-) began_at) operator(pg_catalog./) next;
    next_size := {{.schema}}._gw_next_batch_size(batch_size, mean);
  end if;
  if next operator(pg_catalog.<) locked then
    stopped_by := coalesce(stopped_by, 'time');
  end if;
  ran := next;
  if details then
    ids := batch.ids[: ran];
  elsif failed operator(pg_catalog.<>) '{}' then
    ids := array(select (select j.id from {{.schema}}._private_jobs as j where j.ctid operator(pg_catalog.=) batch.places[f.place])
                   from pg_catalog.unnest(failed) with ordinality as f (place, number)
                  order by f.number);
  end if;
  select j.priority, j.run_at, j.id
    into last_priority, last_run_at, last_id
    from {{.schema}}._private_jobs as j
   where j.ctid operator(pg_catalog.=) batch.places[locked];
  if results is not null then
    perform {{.schema}}._gw_store_results(batch.ids[: ran], array(
      select case when g.place operator(pg_catalog.<>) all (failed) then results[g.place] end
        from pg_catalog.generate_series(1, next) as g (place) order by g.place));
  end if;
  outcomes := {{.schema}}._gw_end_batch(
    worker_id, slot,
    case when failed operator(pg_catalog.=) '{}' then batch.places[: next]
         else array(select batch.places[g.place] from pg_catalog.generate_series(1, next) as g (place)
                     where g.place operator(pg_catalog.<>) all (failed)) end,
    array(select batch.places[f.place] from pg_catalog.unnest(failed) as f (place)), messages, next_size);
  states := outcomes.states;
  attempts := outcomes.attempts;
  maxima := outcomes.maxima;
  retry_in := outcomes.retry_in;
  if details then
    priorities := batch.priorities[: ran];
    run_ats := batch.run_ats[: ran];
    created_ats := batch.created_ats[: ran];
    max_attempts := batch.max_attempts[: ran];
  else
    failed := array(select pg_catalog.generate_series(1, pg_catalog.cardinality(failed)));
  end if;
end;
$$;

comment on function {{.schema}}._gw_work_batch(text, integer, text, text, boolean, integer, boolean, smallint, timestamptz, bigint, interval) is
  'Internal, for workers: runs a batch of jobs inside the server: locks the next due jobs of the task that the worker has recorded, calls a function with the payload of each, deletes the jobs that succeeded and records the failures of the others.';

-- Limits how long a handler waits for a lock, so that a batch does not hold its own locks while it waits.
create or replace function {{.schema}}._gw_limit_lock_waits()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('lock_timeout')::interval not between interval '1 microsecond' and interval '100 milliseconds' then
    perform set_config('lock_timeout', '100ms', true);
  end if;
end;
$$;

comment on function {{.schema}}._gw_limit_lock_waits() is
  'Internal, for batches: limits how long a handler waits for a lock.';

-- Returns whether an error may be due to the other jobs of the batch, or cannot be handled within a batch: then the job runs by
-- a claim, in a transaction of its own, which decides about it. These are conflicts, a lack of resources, timeouts, and
-- handlers that commit.
create or replace function {{.schema}}._gw_is_due_to_batch(
  state text
)
  returns boolean
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return left(state, 2) in ('25', '2D', '40', '53', '54', '55', '57', '58', 'XX');
end;
$$;

comment on function {{.schema}}._gw_is_due_to_batch(text) is
  'Internal, for _gw_work_batch(): returns whether an error may be due to the other jobs of the batch.';

-- Returns the number of jobs of the next batch, which is to take 50 ms: at most twice as many as before, because an estimate from a
-- few jobs may be wrong for the next ones, and at most 1000.
create or replace function {{.schema}}._gw_next_batch_size(
  batch_size integer,
  mean       double precision
)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return greatest(1, least(1000, 2 * batch_size, floor(least(0.05 / greatest(mean, 0.00001), 1000))));
end;
$$;

comment on function {{.schema}}._gw_next_batch_size(integer, double precision) is
  'Internal: returns the number of jobs of the next batch.';

-- Returns the last_error of a job whose handler raised an error: its message, SQLSTATE, detail, hint and context, as gw-run
-- stores it, of which problem has the SQLSTATE first. Of long parts it has the first 2000 characters. The context ends where
-- _gw_work_batch called the handler.
create or replace function {{.schema}}._gw_handler_error(
  handler text,
  problem text[]
)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
declare
  message text := handler || ': ' || problem[2] || ' (SQLSTATE ' || problem[1] || ')';
  names   constant text[] := array['DETAIL', 'HINT', 'CONTEXT'];
begin
  problem[5] := regexp_replace(problem[5], e'(^|\n)(SQL statement "call [^\n]*\n)?[^\n]*_gw_work_batch[(].*$', '');
  for i in 1 .. 3 loop
    if problem[i + 2] <> '' then
      message := message || e'\n' || names[i] || ': '
                 || case when length(problem[i + 2]) <= 2000 then problem[i + 2] else left(problem[i + 2], 2000) || '...' end;
    end if;
  end loop;
  return message;
end;
$$;

comment on function {{.schema}}._gw_handler_error(text, text[]) is
  'Internal, for _gw_work_batch(): returns the last_error of a job whose handler raised an error.';
