// Graphile Worker as a process that bench/worker measures, with a logger that discards. The second argument is the folder
// that its package is installed in, the third its name there.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { execute, main, order } from "./subject.mjs";

const [folder, name] = process.argv.slice(3);
const entry = createRequire(join(folder, "package.json")).resolve(name);
const { run, runOnce, makeWorkerUtils, Logger } = await import(pathToFileURL(entry));
const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));

const task = "bench";
const preset = {
  worker: {
    connectionString: order.url,
    concurrentJobs: order.concurrency,
    logger: new Logger(() => () => {}),
    ...order.settings,
  },
};
const taskList = { [task]: (payload, { job }) => execute(Number(job.id), job.attempts) };

async function work(signal) {
  if (order.do === "once") return runOnce({ preset, taskList });
  const runner = await run({ preset, taskList, noHandleSignals: true });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  await runner.stop();
}

async function add() {
  const utils = await makeWorkerUtils({ preset });
  return async (n) => {
    if (n === 1) return Number((await utils.addJob(task, { number: 1 })).id);
    const specs = Array.from({ length: n }, (_, number) => ({ identifier: task, payload: { number } }));
    return Number((await utils.addJobs(specs))[0].id);
  };
}

await main({ version, work, add });
