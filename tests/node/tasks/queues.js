// Looks up the queue of a job by its id, too.
export default async (_payload, { getQueueName, query }) => {
  const { rows } = await query("select id from graphile_worker._private_job_queues where queue_name = 'other'");
  const names = [await getQueueName(), await getQueueName(rows[0].id), await getQueueName(null)];
  await query("insert into seen (task, what) values ('queues', $1)", [JSON.stringify(names)]);
};
