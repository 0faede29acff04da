#!/usr/bin/env node
// Serves a task to gw-run as a persistent program: a line of JSON for each job comes in, one for its result goes out.
import { createInterface } from "node:readline";

async function work(job) {
  if (!("name" in job.payload)) throw new TypeError("the payload has no 'name'");
  console.error(`hello, ${job.payload.name}`); // stderr is logged, stdout is for answers alone
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const answer = { id: job.id };
  try {
    await work(job);
    answer.ok = true;
  } catch (error) {
    answer.error = error.message;
    answer.permanent = error instanceof TypeError; // to try again would not help
  }
  console.log(JSON.stringify(answer));
}
