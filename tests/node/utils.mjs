// Calls methods of Graphile Worker's WorkerUtils, which first brings the schema up to date, and prints what they return.
// stdin is JSON: version (gw16, gw17 or gw18); preset, the settings under preset.worker; calls, an array of [method,
// argument...], in which each runAt becomes a Date. stdout is a JSON array with a result for each call.
import { text } from "node:stream/consumers";

const { version, preset, calls } = JSON.parse(
  await text(process.stdin),
  (key, value) => (key === "runAt" ? new Date(value) : value),
);
const { makeWorkerUtils, Logger } = await import(version);

const logger = new Logger((scope) => (level, message) => console.error(level, message));
const utils = await makeWorkerUtils({ preset: { worker: { ...preset, logger } } });
const results = [];
for (const [method, ...args] of calls) {
  results.push((await utils[method](...args)) ?? null);
}
await utils.release();
console.log(JSON.stringify(results));
