-- Whether the database would refuse a job with these attributes. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_job_is_refused(
  identifier   text,
  queue_name   text,
  max_attempts integer,
  job_key      text,
  priority     integer,
  flags        text[]
)
  returns boolean
  language sql
  stable
as $$
  select identifier is null
      or length(identifier) > 128
      or length(queue_name) > 128
      or length(job_key) not between 1 and 512
      or max_attempts not between 1 and 32767
      or priority not between -32768 and 32767
      or array_position(flags, null) is not null
      or octet_length(flags::text) > 65536
$$;

comment on function {{.schema}}._gw_job_is_refused(text, text, integer, text, integer, text[]) is
  'Internal: whether a job with these attributes would be refused.';
