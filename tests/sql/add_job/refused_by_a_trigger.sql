-- If a trigger of the user refuses the row, add_job does not retry forever.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create function pg_temp.refuse() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger refuse before insert on _private_jobs for each row execute function pg_temp.refuse();

select is((add_job('task', queue_name => 'queue')).id, null, 'add_job returns a null row for a refused job');
select is((select count(*) from _private_jobs), 0::bigint, 'the table of jobs has no row of the refused job');

select * from finish();
rollback;
