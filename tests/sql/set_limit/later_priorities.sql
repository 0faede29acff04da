-- A job with a limit that becomes due later than a less urgent one of its lane is claimed before less urgent jobs of other lanes.
begin;
select plan(2);
set local search_path = graphile_worker, public;
select set_limit('api', tasks => '{call}', by => 'payload:tenant', max_running => 5, rate => 100, per => '1 minute');
select add_job('call', '{"tenant": 1}', run_at => now() + interval '10 seconds', priority => 2, job_key => 'low'),
       add_job('call', '{"tenant": 1}', run_at => now() + interval '20 seconds', job_key => 'urgent'),
       add_job('call', '{"tenant": 1}', job_key => 'first'),
       add_job('call', '{"tenant": 2}', priority => 1, job_key => 'middle'),
       add_job('call', '{"tenant": 2}', priority => 1, job_key => 'middle too');
select results_eq('select key from get_job_batch(''w'')', '{first}'::text[], 'the job that is due is claimed');
select results_eq($$ select key from get_job_batch('w', batch_size => 2, now => now() + interval '30 seconds') $$, '{urgent,middle}'::text[],
                  'due jobs are claimed in the order of their priorities');
select * from finish();
rollback;
