-- Returns every function of the schema for roles and the roles that may call it. Each calls the queue's own function of
-- the same name and arguments with the rights of the owner, unless its security is invoker. Functions without roles are
-- not returned. A procedure has no result, and its own body, in which it calls the functions of this schema: a
-- procedure that commits cannot have the rights of the owner.

create or replace function {{.schema}}._gw_api_functions()
  returns table (
    name text, arguments text, signature text, result text, volatility text, security text, body text, about text,
    roles text[]) language sql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
as $$
  with own as (
    select p.oid, p.proname, p.proretset, p.provolatile, p.pronargs, p.prokind,
           replace(p.prosrc, '{{ replace "'" "''" .schema }}.', quote_ident({{.schema}}._gw_api_schema()) || '.') as body,
           pg_get_function_arguments(p.oid) as arguments,
           pg_get_function_identity_arguments(p.oid) as signature,
           pg_get_function_result(p.oid) as result,
           (select coalesce(string_agg('$' || n, ', ' order by n), '') from generate_series(1, p.pronargs) as n) as given,
           regexp_replace(obj_description(p.oid, 'pg_proc'), '^Internal[^:]*: ', '') as about
      from pg_proc as p
     where p.pronamespace = {{.schema}}._gw_namespace()
  ), member as (
    select g.role, g.kind, g.tasks
      from {{.schema}}._gw_grants as g
      join pg_roles as r on r.rolname = g.role
  ), planned as (
    -- Functions with their own arguments and result.
    select o.proname::text as name, o.arguments, o.signature, o.result,
           case o.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as volatility,
           'definer' as security,
           case when o.prokind = 'p' then o.body else
           format(case when o.proname = 'doctor' then -- remedies are for the caller
                         'return query select d.severity, d.finding, d.subject, d.detail, d.remedy, replace(d.command, '
                         || replace(quote_literal('select ' || {{.schema}}._gw_namespace() || '.') || ', '
                                    || quote_literal('select ' || quote_ident({{.schema}}._gw_api_schema()) || '.'), '%', '%%')
                         || ') from %s.%I(%s) as d'
                       when o.proretset then 'return query select * from %s.%I(%s)'
                       when o.result = 'void' then 'perform %s.%I(%s)'
                       else 'return %s.%I(%s)' end, {{.schema}}._gw_namespace(), o.proname, o.given) end as call,
           o.about,
           (select array_agg(distinct m.role)
              from member as m
              join {{.schema}}._gw_api_calls() as c on c.kind = m.kind and (m.kind <> 'producer' or m.tasks = '{}')
             where c.call = case o.proname when '_gw_seen_jobs' then 'jobs' else o.proname end) as roles
      from own as o
    union all
    -- One function for each view, because no view may depend on the tables of Graphile Worker.
    select '_gw_' || v.relname, '', '',
           format('TABLE(%s)', string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)),
           'stable', 'definer',
           format('return query select %s from %s.%I as v', string_agg(format('v.%I', a.attname), ', ' order by a.attnum),
                  {{.schema}}._gw_namespace(), v.relname),
           obj_description(v.oid, 'pg_class'),
           (select array_agg(distinct m.role)
              from member as m
              join {{.schema}}._gw_api_calls() as c on c.kind = m.kind
             where c.call = v.relname)
      from pg_class as v
      join pg_attribute as a on a.attrelid = v.oid and a.attnum > 0 and not a.attisdropped
     where v.relnamespace = {{.schema}}._gw_namespace() and v.relname in ('cron_schedules', 'recurring_jobs')
     group by v.oid, v.relname
    union all
    -- add_job without its row as the result: a row under a key contains data of other producers.
    select 'enqueue', o.arguments, o.signature, 'bigint', 'volatile', 'definer',
           format('return (%s.add_job(%s)).id', {{.schema}}._gw_namespace(), o.given),
           'Adds a job and returns its id; in all other respects it works as add_job.',
           (select array_agg(distinct m.role) from member as m where m.kind = 'producer' and m.tasks = '{}')
      from own as o
     where o.proname = 'add_job' and o.pronargs = 9
    union all
    select 'enqueue_' || t.task, regexp_replace(o.arguments, '^identifier text, ', ''),
           regexp_replace(o.signature, '^identifier text, ', ''), 'bigint', 'volatile', 'definer',
           format('return %s._gw_enqueue_task(%L, %s)', {{.schema}}._gw_namespace(), t.task, replace(o.given, ', $9', '')),
           format('Adds a job of the task %s and returns its id; in all other respects it works as add_job.', t.task),
           t.roles
      from own as o
     cross join (select u.task, array_agg(distinct m.role) as roles
                   from member as m
                  cross join unnest(m.tasks) as u (task)
                  where m.kind = 'producer'
                  group by u.task) as t
     where o.proname = '_gw_enqueue_task'
    union all
    -- The same for a list of jobs. It has the rights of the caller, which decide which of these functions it calls.
    select o.proname::text, o.arguments, o.signature, o.result, 'volatile', 'invoker',
           {{.schema}}._gw_enqueue_jobs_body({{.schema}}._gw_api_schema()), o.about,
           (select array_agg(distinct m.role) from member as m where m.kind = 'producer')
      from own as o
     where o.proname = '_gw_enqueue_jobs'
  )
  select p.name, p.arguments, p.signature, p.result, p.volatility, p.security,
         case when p.result is null then p.call else e'\nbegin\n  ' || p.call || e';\nend;\n' end, p.about, p.roles
    from planned as p
   where p.roles is not null
$$;

comment on function {{.schema}}._gw_api_functions() is
  'Internal, for grants: returns the definition of every function of the schema for roles, and its roles.';

-- Returns the views on these functions. They have the names of the queue's views.
create or replace function {{.schema}}._gw_api_views()
  returns table (name text, source text) language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values ('jobs', '_gw_seen_jobs'), ('cron_schedules', '_gw_cron_schedules'), ('recurring_jobs', '_gw_recurring_jobs')
$$;

comment on function {{.schema}}._gw_api_views() is 'Internal: returns the views on these functions.';
