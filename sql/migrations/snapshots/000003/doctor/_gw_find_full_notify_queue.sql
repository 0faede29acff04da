-- The server's notification queue, shared by all databases, is truncated only up to the slowest listener. Once it is
-- full, NOTIFY fails, and add_job with it.
create or replace function {{.schema}}._gw_find_full_notify_queue(threshold double precision default 0.1)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  used   double precision := pg_notification_queue_usage();
  oldest record;
begin
  if used <= threshold then
    return;
  end if;
  select a.pid, a.xact_start, a.usename, a.application_name, a.datname
    into oldest
    from pg_stat_activity as a
   where a.xact_start is not null and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
   order by a.xact_start
   limit 1;
  return query
  select case when used > 0.5 then 'critical' else 'warning' end,
         'notify queue',
         'server',
         format('%s %% of the notification queue is used: a listening session does not read its notifications because '
                'it is in an open transaction. Once the queue is full, add_job fails. ',
                round((used * 100)::numeric, 3))
           || case when oldest.pid is null
                   then 'This role cannot see which session; the server log names it when the queue is half full.'
                   else format('Session %s has the oldest open transaction (role %s, application %s, database %s), '
                               'for %s.', oldest.pid, oldest.usename,
                               coalesce(nullif(oldest.application_name, ''), 'unnamed'), oldest.datname,
                               {{.schema}}._gw_age(oldest.xact_start))
              end,
         case when oldest.pid is null
              then e'Allow this role to see old transactions in pg_stat_activity, with:\ngrant pg_read_all_stats to '
                   || quote_ident(current_user) || ';'
              else e'If that session listens, end its transaction, or end the session with:\nselect pg_terminate_backend('
                   || oldest.pid || ');'
         end;
end;
$$;

comment on function {{.schema}}._gw_find_full_notify_queue(double precision) is 'Internal: the server''s notification queue, shared by all databases, is truncated only up to the slowest listener.';
