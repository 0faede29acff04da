-- Returns whether the database would refuse a job with these attributes. The function is a single expression, so
-- callers inline it.
create or replace function {{.schema}}._gw_job_is_refused(
  identifier text, queue_name text, max_attempts integer, job_key text, priority integer, flags text[])
  returns boolean language sql stable
as $$
  select identifier is null
      or pg_catalog.length(identifier) operator(pg_catalog.>) 128
      or pg_catalog.length(queue_name) operator(pg_catalog.>) 128
      or pg_catalog.length(job_key) operator(pg_catalog.<) 1
      or pg_catalog.length(job_key) operator(pg_catalog.>) 512
      or max_attempts operator(pg_catalog.<) 1
      or max_attempts operator(pg_catalog.>) 32767
      or priority operator(pg_catalog.<) -32768
      or priority operator(pg_catalog.>) 32767
      or flags is not null and ('' operator(pg_catalog.<=) all (flags)) is null -- contains null; flags may have several dimensions
      or pg_catalog.octet_length(flags::pg_catalog.text) operator(pg_catalog.>) 65536
$$;
