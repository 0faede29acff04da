#!/usr/bin/env node
// Serves a task as a persistent program of gw-run: reads one line of JSON for each job, writes one for its result.
import { createInterface } from "node:readline";

async function work(job) {
  if (!("name" in job.payload)) throw new TypeError("the payload has no 'name'");
  console.error(`hello, ${job.payload.name}`); // stderr is logged; stdout is for answers only
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const answer = { id: job.id };
  try {
    await work(job);
    answer.ok = true;
  } catch (error) {
    answer.error = error.message;
    answer.permanent = error instanceof TypeError; // another attempt would fail as well
  }
  console.log(JSON.stringify(answer));
}
