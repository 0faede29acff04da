// Writes down what a task can see of its job.
import type { JobHelpers, Task } from "gw18";

interface Payload {
  note: string;
}

const look: Task = async (payload: unknown, helpers: JobHelpers): Promise<void> => {
  const { job } = helpers;
  const seen = {
    payload,
    note: (payload as Payload | null)?.note ?? null,
    id: job.id,
    task: job.task_identifier,
    isSamePayload: job.payload === payload,
    priority: job.priority,
    runAt: job.run_at instanceof Date ? job.run_at.toISOString() : String(job.run_at),
    attempts: job.attempts,
    maxAttempts: job.max_attempts,
    lastError: job.last_error,
    createdAt: job.created_at instanceof Date && Math.abs(Date.now() - job.created_at.getTime()) < 600_000,
    lockedAt: job.locked_at instanceof Date && Math.abs(Date.now() - job.locked_at.getTime()) < 600_000,
    lockedBy: typeof job.locked_by,
    key: job.key,
    revision: job.revision,
    flags: job.flags,
    isAvailable: job.is_available,
    queueName: await helpers.getQueueName(),
    aborted: helpers.abortSignal.aborted,
    abortPromise: typeof helpers.abortPromise.then,
    logger: ["error", "warn", "info", "debug", "scope"].map((name) => typeof (helpers.logger as any)[name]),
  };
  helpers.logger.scope({ label: "inner" }).debug("looked", { seen });
  await helpers.query("insert into seen (task, what) values ('look', $1)", [JSON.stringify(seen)]);
};

export default look;
