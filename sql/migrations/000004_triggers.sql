-- _gw_release sets gw.told, which disables the trigger, where it notifies itself for the queues that it frees.
create constraint trigger _gw_queue_freed
  after update of locked_at on {{.schema}}._private_job_queues
  deferrable initially deferred
  for each row
  when (new.locked_at is null and current_setting('gw.told'::text, true) is distinct from 't'::text)
  execute function {{.schema}}._gw_queue_freed();

comment on trigger _gw_queue_freed on {{.schema}}._private_job_queues is
  'Wakes a worker when a queue becomes free and a due job is waiting in it.';

create trigger _gw_contexts_put
  after insert on {{.schema}}._gw_job_context
  referencing new table as put
  for each statement
  execute function {{.schema}}._gw_contexts_put();

comment on trigger _gw_contexts_put on {{.schema}}._gw_job_context is
  'Deletes contexts of deleted jobs when new ones are stored.';

select {{.schema}}._gw_finish_migration();
