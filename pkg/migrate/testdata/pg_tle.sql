-- Stands for the extension pg_tle, with the signatures of its version 1.0.4 and the refusals of its documentation. It only
-- stores the scripts; the test puts them among the server's files.
create schema pgtle;
create table pgtle.extensions (name text primary key, default_version text not null, description text not null);
create table pgtle.scripts (name text not null, source text, target text not null, ext text not null);

create function pgtle.store(name text, source text, target text, ext text) returns boolean language plpgsql as $$
begin
  if name !~ '^[A-Za-z0-9_@]([A-Za-z0-9_@-]*[A-Za-z0-9_@])?$' or name ~ '--' then
    raise exception 'invalid extension name: %', name;
  elsif target !~ '^[^-/]' or target ~ '--|/|-$' or octet_length(concat_ws('--', name, source, target) || '.sql') >= 64 then
    raise exception 'invalid extension version: %', target;
  elsif ext ~ '\$_pgtle_[io]_\$' or ext ~ '^\\echo' then
    raise exception 'invalid script of %', name;
  elsif exists (select from pgtle.scripts as s where s.name = $1 and s.source is not distinct from $2 and s.target = $3) then
    raise exception '% already installed', concat_ws('--', name, source, target);
  end if;
  insert into pgtle.scripts values ($1, $2, $3, $4);
  return true;
end
$$;

create function pgtle.install_extension(name text, version text, description text, ext text, requires text[] default null)
  returns boolean language plpgsql as $$
begin
  insert into pgtle.extensions values ($1, $2, $3);
  return pgtle.store($1, null, $2, $4);
end
$$;

create function pgtle.install_extension_version_sql(name text, version text, ext text) returns boolean language plpgsql as $$
begin
  if not exists (select from pgtle.extensions as e where e.name = $1) then
    raise exception 'extension % is not installed', $1;
  end if;
  return pgtle.store($1, null, $2, $3);
end
$$;

create function pgtle.install_update_path(name text, fromvers text, tovers text, ext text) returns boolean language sql as $$
  select pgtle.store($1, $2, $3, $4)
$$;

create function pgtle.set_default_version(name text, version text) returns boolean language sql as $$
  update pgtle.extensions as e set default_version = $2 where e.name = $1 returning true
$$;

create function pgtle.available_extensions(out name name, out default_version text) returns setof record language sql as $$
  select e.name::name, e.default_version from pgtle.extensions as e
$$;

create function pgtle.available_extension_versions(out name name, out version text) returns setof record language sql as $$
  select s.name::name, s.target from pgtle.scripts as s where s.source is null
$$;

create function pgtle.extension_update_paths(name text, out source text, out target text, out path text)
  returns setof record language sql as $$
  select s.source, s.target, s.source || '--' || s.target from pgtle.scripts as s where s.name = $1 and s.source is not null
$$;
