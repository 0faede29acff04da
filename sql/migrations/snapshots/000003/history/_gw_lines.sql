-- Return the records of a row of _gw_ended or of _gw_history, one line per attempt. They are single queries without a
-- search_path of their own, so that PostgreSQL inlines them.

create or replace function {{.schema}}._gw_recent_lines(recent {{.schema}}._gw_ended)
  returns table (
    job_id bigint, task text, attempt smallint, max_attempts smallint, outcome text, worker_id text, place text,
    key text, created_at timestamptz, run_at timestamptz, started_at timestamptz, ended_at timestamptz, detail text,
    payload json, result json) language sql stable
as $$
  select u.job_id, recent.task, coalesce(u.attempt, 1::smallint), recent.max_attempts, recent.outcome, recent.worker_id, recent.place, recent.key,
         coalesce(u.created_at, u.run_at), u.run_at, coalesce(u.started_at, recent.started_at[1]), recent.ended_at, u.detail, recent.payload, recent.result
    from rows from (pg_catalog.unnest(recent.job_ids), pg_catalog.unnest(recent.attempts), pg_catalog.unnest(recent.created_at),
                    pg_catalog.unnest(recent.run_at), pg_catalog.unnest(recent.started_at), pg_catalog.unnest(recent.details))
      as u (job_id, attempt, created_at, run_at, started_at, detail)
$$;

comment on function {{.schema}}._gw_recent_lines({{.schema}}._gw_ended) is
  'Internal: returns the records of a row of _gw_ended.';

create or replace function {{.schema}}._gw_packed_lines(packed {{.schema}}._gw_history)
  returns table (
    job_id bigint, task text, attempt smallint, max_attempts smallint, outcome text, worker_id text, place text,
    key text, created_at timestamptz, run_at timestamptz, started_at timestamptz, ended_at timestamptz, detail text,
    payload json, result json) language sql stable
as $$
  select packed.first_id operator(pg_catalog.+) u.id_offset, packed.task, coalesce(packed.attempt, u.attempt), packed.max_attempts,
         coalesce(packed.outcome, u.outcome), coalesce(packed.worker_id, u.worker_id), coalesce(packed.place, u.place), u.key,
         pg_catalog.to_timestamp(t.ended operator(pg_catalog.-) coalesce(u.ran, 0) operator(pg_catalog.-) u.waited
                                 operator(pg_catalog.-) coalesce(u.aged, 0)),
         pg_catalog.to_timestamp(t.ended operator(pg_catalog.-) coalesce(u.ran, 0) operator(pg_catalog.-) u.waited),
         pg_catalog.to_timestamp(t.ended operator(pg_catalog.-) u.ran), pg_catalog.to_timestamp(t.ended),
         u.detail, u.payload, u.result
    from rows from (pg_catalog.unnest(packed.id_offsets), pg_catalog.unnest(packed.ended_after), pg_catalog.unnest(packed.ran),
                    pg_catalog.unnest(packed.waited), pg_catalog.unnest(packed.aged), pg_catalog.unnest(packed.attempts),
                    pg_catalog.unnest(packed.outcomes), pg_catalog.unnest(packed.worker_ids), pg_catalog.unnest(packed.places),
                    pg_catalog.unnest(packed.keys), pg_catalog.unnest(packed.details), pg_catalog.unnest(packed.payloads),
                    pg_catalog.unnest(packed.results))
      as u (id_offset, ended_after, ran, waited, aged, attempt, outcome, worker_id, place, key, detail, payload, result)
   cross join lateral (
          select pg_catalog.date_part('epoch', packed.first_ended_at) operator(pg_catalog.+) u.ended_after as ended) as t
$$;

comment on function {{.schema}}._gw_packed_lines({{.schema}}._gw_history) is
  'Internal: returns the records of a row of _gw_history.';

-- Returns the seconds between two times; a billion, which is about thirty years, if they are farther apart or a time is
-- infinite. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_seconds(later timestamptz, earlier timestamptz)
  returns real language sql stable
as $$
  select case when later is null or earlier is null then null else
         least(greatest(pg_catalog.date_part('epoch', later) operator(pg_catalog.-) pg_catalog.date_part('epoch', earlier),
                        '-1e9'::double precision), '1e9'::double precision) end::real
$$;

comment on function {{.schema}}._gw_seconds(timestamptz, timestamptz) is 'Internal: returns the seconds between two times; a billion, which is about thirty years, if they are farther apart or a time is infinite.';
