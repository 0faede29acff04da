-- A claim with an invalid worker id, batch size or expiry is refused, even if there is no job to claim.
begin;
select plan(14);
set local search_path = graphile_worker, public;

select throws_ok($$ select get_job('') $$, 'GWWID', 'Worker id must be 1 to 128 characters long.');
select throws_ok($$ select get_job(null) $$, 'GWWID');
select throws_ok($$ select get_job(repeat('w', 129)) $$, 'GWWID');
select throws_ok($$ select get_job_batch('') $$, 'GWWID');
select throws_ok($$ select get_job_batch('worker', batch_size => 0) $$, 'GWWBS', 'Batch size must be at least 1, not 0.');
select throws_ok($$ select get_job_batch('worker', batch_size => -1) $$, 'GWWBS');
select throws_ok($$ select get_job_batch('worker', batch_size => null) $$, 'GWWBS', 'Batch size must be at least 1, not null.');
select throws_ok($$ select get_job('worker', job_expiry => null) $$, 'GWWEX', 'Expiry must be a positive interval, not null.');
select throws_ok($$ select get_job('worker', job_expiry => '0') $$, 'GWWEX');
select throws_ok($$ select get_job('worker', job_expiry => '-1 second') $$, 'GWWEX');
select throws_ok($$ select get_job('worker', job_expiry => '178000000 years') $$, 'GWWEX', 'Expiry must be at most 1000 years, not 178000000 years.');
select lives_ok($$ select get_job('worker', job_expiry => '1000 years') $$, 'an expiry of 1000 years is accepted');

select add_job('task', queue_name => 'a'), add_job('task', queue_name => 'b'), add_job('task');
select is((select count(*) from get_job_batch('w')), 1::bigint, 'a worker id of one character can claim one job');
select is((select count(*) from get_job_batch(repeat('w', 128), batch_size => 2147483647)), 2::bigint,
          'a worker id of 128 characters is accepted; no batch is too large');

select * from finish();
rollback;
