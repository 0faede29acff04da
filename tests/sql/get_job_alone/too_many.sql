-- Suspects run one by one, so there are never more than 10 000; further jobs do not become suspects.
begin;
select plan(2);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

insert into _gw_suspects (job_id) select -n from generate_series(1, 9998) as n;
select register_worker('w0');
select add_job('task', job_key => '1'), add_job('task', job_key => '2');
select get_job('w0'), get_job('w0');
select pg_temp.kill('w0');
select * from pg_temp.beat() as b (died text[], freed bigint);
insert into _gw_suspects (job_id) select -n from generate_series(1, 9998) as n on conflict do nothing;

select register_worker('w1');
select get_job_alone('w1');
select add_job('task', job_key => '3'), add_job('task', job_key => '4');
select get_job_batch('w2', batch_size => 2);
select register_worker('w2');
select pg_temp.kill(w) from unnest(array['w1', 'w2']) as w;
select * from pg_temp.beat() as b (died text[], freed bigint);
select results_eq($$ select j.key, s.crashes from _private_jobs as j join _gw_suspects as s on s.job_id = j.id order by j.key $$,
                  $$ values ('1', 1), ('2', 0) $$,
                  'the crash of one suspect is counted, and the other jobs do not become suspects');
select set_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['3', '4'],
  'jobs that did not become suspects are claimed by ordinary claims');

select * from finish();
rollback;
