-- Waits until a job has ended, or until the timeout, and returns its state, result and error as job_results does. After
-- the timeout the state is waiting. The job must be committed. An end is seen within a second.
-- It is a procedure, called outside of a transaction block: it commits before each look, so that it holds no snapshot,
-- which would keep vacuum from removing dead rows. A procedure that commits can have no SET clause and not be security
-- definer, so it sets its search_path at the start of each transaction.
-- Raises GWOIV (timeout), 2D000 in a transaction block.
create or replace procedure {{.schema}}.wait_for_job(
  job_id       bigint,
  timeout      interval default '1 minute',
  inout state  text     default null,
  inout result json     default null,
  inout error  text     default null
)
  language plpgsql
as $$
declare
  until timestamptz;
  pause double precision := 0.01;
  ended record;
begin
  set local search_path = pg_catalog, pg_temp;
  if (timeout between interval '0' and interval '1000 years') is not true then
    raise exception 'timeout must be between 0 and 1000 years, not %.', coalesce(timeout::text, 'null') using errcode = 'GWOIV';
  end if;
  until := clock_timestamp() + timeout;
  perform {{.schema}}.await_jobs(array[job_id]);
  loop
    commit;
    set local search_path = pg_catalog, pg_temp;
    select r.state, r.result, r.error into ended from {{.schema}}.job_results(array[job_id]) as r;
    exit when found or clock_timestamp() >= until;
    commit;
    set local search_path = pg_catalog, pg_temp;
    perform pg_sleep(least(pause, date_part('epoch', until - clock_timestamp())));
    pause := least(pause * 1.5, 1);
  end loop;
  state := coalesce(ended.state, 'waiting');
  result := ended.result;
  error := ended.error;
end;
$$;

comment on procedure {{.schema}}.wait_for_job(bigint, interval, text, json, text) is
  'Waits until a job has ended, or until the timeout, and returns its state, result and error as job_results() does; the state is waiting after the timeout. Call it outside of a transaction block.';
