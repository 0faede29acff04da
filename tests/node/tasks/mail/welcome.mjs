// A task in a folder, which adds jobs one by one and many at once.
export default async (payload, { addJob, addJobs, query }) => {
  const added = [
    await addJob("later", { to: payload.to }, {
      queueName: "mails", runAt: new Date("2099-01-02T03:04:05.678Z"), maxAttempts: 7, jobKey: "welcome", priority: -3,
      flags: ["slow", "eu"],
    }),
    await addJob("later", { to: "again" }, { jobKey: "welcome", jobKeyMode: "preserve_run_at" }),
    await addJob("later", undefined, { runAt: new Date("2099-01-01T00:00:00Z") }),
    ...(await addJobs([
      { identifier: "later", payload: { n: 1 }, runAt: new Date("2099-01-01T00:00:00Z"), queueName: "q", priority: 2, flags: ["a"] },
      { identifier: "later", payload: [1, 2], jobKey: "k", runAt: new Date("2099-01-01T00:00:00Z"), maxAttempts: 3 },
    ])),
  ];
  const what = added.map((job) => [job.id, job.task_identifier, job.key, job.payload, job.attempts, job.max_attempts, job.revision]);
  await query("insert into seen (task, what) values ('mail/welcome', $1)", [JSON.stringify(what)]);
};
