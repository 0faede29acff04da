-- Work on which nothing else depends may fail: what a worker needs is done all the same, and doctor() names the failure.
begin;
select plan(18);
set local search_path = graphile_worker, public;
set local client_min_messages = error;

create or replace function _gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$;
create function pg_temp.refuse() returns event_trigger language plpgsql as $$ begin raise 'no DDL here'; end $$;

-- What a worker needs: to count as alive, that jobs of others are freed, and that its jobs end. Returns what was not done.
create function pg_temp.lacking() returns text language plpgsql as $$
declare
  lacks text := '';
  held  record;
begin
  delete from _private_jobs;
  update _gw_turns set last_at = '-infinity';
  perform register_worker('here'), register_worker('dead');
  update _gw_workers set last_seen_at = now() - interval '1 hour' where id = 'dead';
  update _gw_workers set beating_since = now() - interval '1 hour' where id = 'here';
  perform add_job('task'), add_job('task', job_key => 'fails'), add_job('task', job_key => 'waits');
  update _private_jobs set locked_by = 'node', locked_at = now() - interval '5 hours', attempts = 1 where key = 'waits';
  if stale_sweep() <> 1 then lacks := 'sweep '; end if;
  if not (select h.registered from heartbeat('here') as h) then lacks := lacks || 'heartbeat '; end if;
  if (select last_seen_at < now() from _gw_workers where id = 'here') then lacks := lacks || 'seen '; end if;
  perform tidy();
  perform from cleanup('{DELETE_PERMAFAILED_JOBS}');
  for held in select * from get_job_batch('here', batch_size => 3) loop
    if held.key = 'fails' then
      perform fail_job('here', held.id, 'error');
    elsif not complete_job('here', held.id) then
      lacks := lacks || 'completion ';
    end if;
  end loop;
  return lacks;
end;
$$;
create function pg_temp.failed() returns text language sql as $$
  select string_agg(d.subject || ': ' || substr(d.detail, strpos(d.detail, ' ago: ') + 6), ' ' order by d.subject)
    from doctor() as d where d.finding = 'failed work'
$$;

select keep_task('task', '1 day');
select pg_temp.lacking();
select is(pg_temp.failed(), null, 'no work is reported before a failure');

-- The history cannot be packed, because a trigger refuses DDL.
alter table _gw_ended_0 replica identity full; -- for the update, under a publication of all tables
alter table _gw_ended_1 replica identity full;
alter table _gw_ended_2 replica identity full;
update _gw_ended set slot = (_gw_slot_at(clock_timestamp()) + 1) % 3;
create event trigger refuse on ddl_command_start execute function pg_temp.refuse();
select is(pg_temp.lacking(), '', 'a worker does its work while DDL is refused');
select matches(pg_temp.failed(), '^function _gw_pack_history: no DDL here\. Rows',
  'doctor() reports the packing of the history that DDL would need');
alter event trigger refuse disable;
select pg_temp.lacking();
select is(pg_temp.failed(), null, 'doctor() reports nothing when the packing works again');

-- Each table that optional work needs is missing.
create function pg_temp.without(name text) returns text language plpgsql as $$
declare
  told text;
begin
  execute format('alter table %I rename to gone', name);
  told := concat_ws('|', pg_temp.lacking(), pg_temp.failed());
  execute format('alter table gone rename to %I', name);
  perform pg_temp.lacking();
  update _gw_turns as t set error = null where t.name in ('_gw_jobs_ended', '_gw_note_attempts');
  return told;
end;
$$;
select matches(pg_temp.without('_gw_samples'), '^\|.*function _gw_add_sample: relation',
  'a worker does its work without the table of samples, and doctor() reports it');
select matches(pg_temp.without('_gw_audit'), '^\|.*function _gw_drop_spent: relation',
  'a worker does its work without the table of the audit, and doctor() reports it');
select matches(pg_temp.without('_gw_steps'), '^\|.*function _gw_drop_spent: relation',
  'a worker does its work without the table of steps, and doctor() reports it');
select matches(pg_temp.without('_gw_ended'), '^\|.*function _gw_jobs_ended: relation.*function _gw_note_attempts: relation',
  'a worker does its work without the table of ended attempts, and doctor() reports it');
select matches(pg_temp.without('_gw_ended_' || (_gw_slot_at(clock_timestamp()) + 1) % 3),
               '^\|.*function _gw_pack_history: relation',
               'a worker does its work without a slot of the history, and doctor() reports it');

alter table _gw_ended detach partition _gw_ended_0;
alter table _gw_ended detach partition _gw_ended_1;
alter table _gw_ended detach partition _gw_ended_2;
select is(pg_temp.lacking(), '', 'a worker does its work without a partition for its records');
select matches(pg_temp.failed(), 'function _gw_jobs_ended: no partition',
  'doctor() reports that the records of ended jobs have no partition');
alter table _gw_ended attach partition _gw_ended_0 for values in (0);
alter table _gw_ended attach partition _gw_ended_1 for values in (1);
alter table _gw_ended attach partition _gw_ended_2 for values in (2);
select pg_temp.lacking();

-- Limits and pauses.
select set_limit('limit', '{limited}', max_running => 1);
select matches(pg_temp.without('_gw_lane_cursor'), '^\|.*function _gw_sweep_limits: ',
  'a worker does its work while limits cannot be swept, and doctor() reports it');
create function pg_temp.refuse_row() returns trigger language plpgsql as $$ begin raise 'no end'; end $$;
create trigger refuse before insert on _gw_recovery for each row execute function pg_temp.refuse_row();
select is(pg_temp.lacking(), '', 'a worker does its work while others cannot be recovered');
select matches(pg_temp.failed(), 'function _gw_recover_workers: no end',
  'doctor() reports that workers cannot be recovered');
drop trigger refuse on _gw_recovery;
select pause('other', until => clock_timestamp() + interval '1 hour');
update _gw_pauses set until = clock_timestamp() where until < 'infinity';
create trigger refuse before delete on _gw_pauses for each row execute function pg_temp.refuse_row();
select is(pg_temp.lacking(), '', 'a worker does its work while pauses cannot end');
select matches(pg_temp.failed(), 'function _gw_sweep_pauses: no end', 'doctor() reports that pauses cannot end');

-- Nobody has the row of the work.
truncate _gw_turns;
drop trigger refuse on _gw_pauses;
select is(pg_temp.lacking(), '', 'a worker does its work without the rows of turns');
truncate _gw_turns;
select ok(stale_sweep() = 0 and tidy(), 'the sweep adds the rows of turns again');

select * from finish();
rollback;
