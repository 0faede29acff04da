// The part of a measured process that talks to the one that measures it: what bench/internal/subject is for Go, where the
// lines that go to and fro are described.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const recentSize = 4096;

export const order = JSON.parse(process.argv[2]);

const counts = new Uint32Array(order.jobs).fill(0);
const recent = new Array(recentSize).fill(0);
let executions = 0;
let first = 0;
let firstCPU = 0;

const now = () => Number(process.hrtime.bigint());
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The handler of a job: takes note of it and does what the order says. attempt counts from 1. */
export function execute(id, attempt) {
  if (order.tellStarts) send({ start: { id, at: now() } });
  if (executions++ === 0) {
    firstCPU = cpu();
    first = now();
  }
  if (!(id >= 1 && id <= counts.length)) {
    send({ error: `there should be no job ${id}` });
    return;
  }
  counts[id - 1]++;
  recent[executions % recentSize] = id;
  if (order.sleepMillis > 0) return sleep(order.sleepMillis);
  if (attempt <= order.failures) throw new Error("this attempt has to fail");
}

/**
 * Runs the process. version is that of the contender; work works jobs until the signal aborts, or with "once" until none
 * is left; add opens whatever adds jobs, by a function of a number that returns the id of the first.
 */
export async function main({ version, work, add }) {
  const ending = new AbortController();
  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  const addJobs = order.do === "add" ? await add() : null;
  const commands = {
    go: () => begin(),
    status: () => send({ status: { executions, first, firstCPU, cpu: cpu() } }),
    recent: () => send({ recent: recent.filter((id) => id !== 0) }),
    stop: () => ending.abort(),
    add: async (jobs, call) => {
      const added = { id: 0, begin: now(), end: 0 };
      for (let done = 0; done < jobs; done += call) {
        const id = await addJobs(Math.min(call, jobs - done));
        if (done === 0) added.id = id;
      }
      added.end = now();
      send({ added });
    },
  };
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      const [word, ...numbers] = line.split(" ");
      commands[word](...numbers.map(Number));
    })
    .on("close", () => process.kill(process.pid, "SIGKILL")); // whoever started us is gone

  send({ ready: version });
  await begun;
  if (order.do !== "add") {
    await work(ending.signal);
  } else if (!ending.signal.aborted) {
    await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
  }
  if (order.counts) writeFileSync(order.counts, Buffer.from(counts.buffer));
  send({ stopped: true });
  process.exit(0);
}
