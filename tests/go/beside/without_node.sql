begin;
set local lock_timeout = '5s';
lock table graphile_worker._private_jobs;
create unique index _gw_jobs_key on graphile_worker._private_jobs (key) where key is not null;
alter table graphile_worker._private_jobs drop constraint jobs_key_key1;
drop index graphile_worker.jobs_main_index;
commit;
