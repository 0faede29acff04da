-- Raises an error with the reason why a job with these attributes is refused. CHECK constraints refuse the same for raw
-- writes; here the error comes first, with an SQLSTATE that clients can switch on and the names of the table and
-- of the constraint or column, as in the error of the table.
create or replace function {{.schema}}._gw_refuse_job(
  identifier text, queue_name text, max_attempts integer, job_key text, priority integer, flags text[],
  spec_number bigint default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  code     text;
  reason   text;
  place    text; -- the table to which a raw write would be refused,
  violated text; -- and by which of its constraints
  own      text;
  detail   text := 'It is spec ' || spec_number || ' of the call.';
begin
  if identifier is null then
    code := 'GWBNI'; reason := 'Task identifier must not be null.'; place := '_private_tasks';
  elsif length(identifier) > 128 then
    code := 'GWBID'; reason := 'Task identifier is too long (max length: 128).';
    place := '_private_tasks'; violated := 'tasks_identifier_check';
  elsif length(queue_name) > 128 then
    code := 'GWBQN'; reason := 'Job queue name is too long (max length: 128).';
    place := '_private_job_queues'; violated := 'job_queues_queue_name_check';
  elsif length(job_key) = 0 then
    code := 'GWBJK'; reason := 'Job key must not be empty; pass null for a job without one.';
    place := '_private_jobs'; violated := 'jobs_key_check';
  elsif length(job_key) > 512 then
    code := 'GWBJK'; reason := 'Job key is too long (max length: 512).';
    place := '_private_jobs'; violated := 'jobs_key_check';
  elsif max_attempts < 1 then
    code := 'GWBMA'; reason := 'Job maximum attempts must be at least 1.';
    place := '_private_jobs'; violated := 'jobs_max_attempts_check';
  elsif max_attempts > 32767 then
    code := 'GWBMR'; reason := 'Job maximum attempts must be at most 32767, not ' || max_attempts || '.';
  elsif priority not between -32768 and 32767 then
    code := 'GWBPR'; reason := 'Job priority must be between -32768 and 32767, not ' || priority || '.';
  elsif flags is not null and ('' <= all (flags)) is null then
    code := 'GWBNF'; reason := 'Job flags must not contain null.';
  elsif octet_length(flags::text) > 65536 then
    code := 'GWBFL'; reason := 'Job flags have ' || octet_length(flags::text) || ' bytes, at most 65536 are allowed.';
  else
    return;
  end if;

  select n.nspname into own from pg_namespace as n where n.oid = {{.schema}}._gw_namespace();
  -- A field of an error that is given as an empty text is not absent, as those of the table's own errors are.
  if violated is not null and detail is not null then
    raise exception '%', reason using errcode = code, schema = own, table = place, constraint = violated, detail = detail;
  elsif violated is not null then
    raise exception '%', reason using errcode = code, schema = own, table = place, constraint = violated;
  elsif place is not null and detail is not null then
    raise exception '%', reason using errcode = code, schema = own, table = place, column = 'identifier', detail = detail;
  elsif place is not null then
    raise exception '%', reason using errcode = code, schema = own, table = place, column = 'identifier';
  elsif detail is not null then
    raise exception '%', reason using errcode = code, detail = detail;
  end if;
  raise exception '%', reason using errcode = code;
end;
$$;

comment on function {{.schema}}._gw_refuse_job(text, text, integer, text, integer, text[], bigint) is 'Internal: raises an error with the reason why a job with these attributes is refused.';
