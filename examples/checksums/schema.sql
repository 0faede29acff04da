-- A table of files whose checksums are computed in the background. Each new row adds a job.
create schema checksums;

create table checksums.files (
  path   text primary key,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$')
);

create function checksums.enqueue()
  returns trigger
  language plpgsql
as $$
begin
  perform graphile_worker.add_job('checksum', json_build_object('path', new.path));
  return new;
end
$$;

create trigger enqueue
  after insert on checksums.files
  for each row
  when (new.sha256 is null)
  execute function checksums.enqueue();
