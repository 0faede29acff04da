// Runs task modules for gw-run in Node.js: for each job it calls the default export of the task's module with the payload and
// the helpers that Graphile Worker documents. It needs Node.js 18 and no packages, except for helpers that use the database:
// these use the package pg that the task file itself would import.
//
// It reads lines of JSON from file descriptor 3 and writes them to 4, so that tasks can use stdin, stdout and stderr.
// Input: {setup}, the first line; {load, path}: import the module of a task; {call, path, job}: run a job; {abort, reason}:
// fire the abortSignal of a call. The end of the input means that there are no more jobs.
// Output: {ready}; {loaded, error}: a module was imported or could not be; {done, error, stack, failed, result}: a call has ended;
// {heard}: an abort was read; {log, call, text, scope, meta}: a log message; {print, call, text}: a line on stdout or stderr;
// {retire, call}: this process should get no more jobs; {exit, call}: process.exit was called. Calls are numbers.
import { AsyncLocalStorage } from "node:async_hooks";
import { execFile } from "node:child_process";
import { readFileSync, realpathSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const longestText = 16_384;
const longestMeta = 4_096;
const longestResult = 64 * 1024 * 1024; // in bytes, the largest value of the setting max_result

const current = new AsyncLocalStorage(); // the call whose code is running
const calls = new Map(); // the calls without an answer, by their numbers
const loads = new Set(); // promises of imports that were requested by {load}
const pools = new Map(); // promises of pools, by the path of their package pg
let setup;

// tell writes a message; result is the text of its field result.
function tell(message, result) {
  let text = JSON.stringify(message);
  if (result !== undefined) text = `${text.slice(0, -1)},"result":${result}}`;
  const line = Buffer.from(text + "\n");
  for (let written = 0; written < line.length; ) {
    try {
      written += writeSync(4, line, written);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const cut = (text, length = longestText) => (text.length > length ? text.slice(0, length) + "..." : text);

// Values of tasks run code of tasks: getters, toString, proxies. Whatever reads one calls textOf, messageOf or stackOf, which return
// strings and never throw.

// unprintable returns a text for a value that threw an error when it was read.
function unprintable(value, error) {
  let why = "";
  try {
    why = `: ${String(error?.message ?? error)}`;
  } catch {
    // the error cannot be read either
  }
  return cut(`a value of type ${typeof value} that cannot be printed${why}`);
}

// textOf returns the text of a value, in JSON for an object or an array.
function textOf(value, length = longestText) {
  try {
    const isData = typeof value === "object" && value !== null && !(value instanceof Error);
    return cut(String((isData ? JSON.stringify(value) : undefined) ?? value), length);
  } catch (error) {
    return unprintable(value, error);
  }
}

// messageOf returns the error message to store for a thrown value: that of Graphile Worker, but it keeps a thrown string, and a
// message that is no string in the form that the package pg gives it.
function messageOf(thrown) {
  try {
    if (thrown instanceof Error) return textOf(thrown.message || String(thrown) || "Non error or error without message thrown.");
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) return cut(String(thrown.message) || "Error");
    const says = thrown != null && thrown !== "" && !["object", "function"].includes(typeof thrown);
    return says ? cut(String(thrown)) : "An error occurred";
  } catch (error) {
    return unprintable(thrown, error);
  }
}

// withoutOtherFrames returns a stack without the frames of Node.js and of this file.
const withoutOtherFrames = (stack) =>
  stack.split("\n").filter((line) => !/^\s+at .*\(?(node:|.*gw-run\.mjs:)/.test(line)).join("\n").trim();

// stackOf returns the stack of a thrown value, undefined if it has none. Error.prepareStackTrace may return any value.
function stackOf(thrown) {
  try {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return typeof stack === "string" && stack !== "" ? cut(withoutOtherFrames(stack)) : undefined;
  } catch {
    return undefined;
  }
}

const firstLines = (text) => withoutOtherFrames(text).split("\n").slice(0, 12).join("\n");

// checkedSyntax returns the syntax error that node --check prints for a file, because the error of import() does not contain the
// position of a syntax error in an ES module.
async function checkedSyntax(path) {
  const stderr = await new Promise((resolve) => {
    execFile(process.execPath, ["--check", path], { timeout: 10_000 }, (_, stdout, stderr) => resolve(stderr));
  });
  return stderr.includes("SyntaxError") ? firstLines(stderr.replace(/\n\nNode\.js v[\s\S]*$/, "")) : undefined;
}

// loadError returns the reason why a module cannot be loaded, with the position that Node.js reports, and without stack frames
// that are not the task's.
async function loadError(path, error) {
  let reason = firstLines(stackOf(error) ?? messageOf(error));
  if (reason.startsWith("SyntaxError")) reason = (await checkedSyntax(path)) ?? reason;
  let text = `load ${path}: ${cut(reason)}`;
  if (error?.code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[cm]?ts$/.test(path)) {
    text += `\nNode.js ${process.versions.node} does not run TypeScript. Use 22.18 or newer, or set a loader, as in NODE_OPTIONS="--import tsx".`;
  }
  return new Error(text);
}

// load imports a module and returns its task. import() wraps the exports of a CommonJS module in `default`, once or, if the
// module was compiled from an ES module, twice.
async function load(path) {
  let exported;
  try {
    exported = await import(pathToFileURL(path).href);
  } catch (error) {
    throw await loadError(path, error);
  }
  let task = exported;
  for (let depth = 0; depth < 3 && typeof task !== "function"; depth++) task = task?.default;
  if (typeof task !== "function") {
    const found = exported.default ?? exported["module.exports"];
    throw new Error(
      `load ${path}: its default export is ${found == null ? "missing" : `of type ${typeof found}`}; ` +
        "a task is a function: export default async (payload, helpers) => { ... }",
    );
  }
  return task;
}

class Logger {
  #call;
  #scope;
  constructor(call, scope = {}) {
    this.#call = call;
    this.#scope = scope;
  }
  log(level, message, meta) {
    tell({ log: textOf(level), call: this.#call, text: textOf(message), scope: textsOf(this.#scope), meta: metaOf(meta) });
  }
  scope(more) {
    return new Logger(this.#call, { ...this.#scope, ...more });
  }
  error(message, meta) {
    this.log("error", message, meta);
  }
  warn(message, meta) {
    this.log("warning", message, meta);
  }
  info(message, meta) {
    this.log("info", message, meta);
  }
  debug(message, meta) {
    this.log("debug", message, meta);
  }
}

function textsOf(scope) {
  const texts = {};
  for (const [name, value] of Object.entries(scope)) {
    if (value !== undefined) texts[name] = textOf(value, longestMeta);
  }
  return texts;
}

function metaOf(meta) {
  if (meta === undefined) return undefined;
  try {
    return cut(JSON.stringify(meta) ?? String(meta), longestMeta);
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}

// findPg returns the path of the package pg that a task file would import, otherwise the one that its Graphile Worker would.
function findPg(path) {
  const places = [realpathSync(path), join(process.cwd(), "tasks")].map((from) => createRequire(from));
  for (const require of places) {
    for (const find of [() => require.resolve("pg"), () => createRequire(require.resolve("graphile-worker")).resolve("pg")]) {
      try {
        return find();
      } catch {
        // try the next place
      }
    }
  }
  throw new Error(
    `this helper needs the package pg, which ${dirname(path)} cannot import; install it beside the tasks (npm install pg)`,
  );
}

async function poolFor(path) {
  const found = findPg(path);
  if (!pools.has(found)) {
    const pool = openPool(found);
    pools.set(found, pool);
    pool.catch(() => pools.delete(found)); // the next call tries again
  }
  return pools.get(found);
}

async function openPool(found) {
  const imported = await import(pathToFileURL(found).href);
  const pg = imported.default ?? imported;
  const { tls, ...settings } = setup.database;
  const pool = new pg.Pool({ ...settings, max: setup.max, ssl: await sslFor(pg, settings, tls) });
  const warn = (error) => new Logger().warn(`a database connection of the tasks was lost: ${messageOf(error)}`);
  pool.on("error", warn);
  pool.on("connect", (client) => client.on("error", warn)); // a connection that breaks must not end the process
  return pool;
}

// sslFor returns the setting ssl of pg. If encryption is optional, it first checks whether the server supports it.
async function sslFor(pg, settings, tls) {
  if (!tls) return false;
  const ssl = { rejectUnauthorized: tls.verify, cert: tls.cert, key: tls.key };
  if (tls.verify && tls.ca) ssl.ca = readFileSync(tls.ca, "utf8");
  if (tls.verify && !tls.host) ssl.checkServerIdentity = () => undefined;
  if (!tls.optional) return ssl;
  const probe = new pg.Client({ ...settings, ssl });
  probe.on("error", () => {});
  try {
    await probe.connect();
  } catch (error) {
    if (/does not support SSL/.test(error.message)) return false;
    throw error;
  } finally {
    await probe.end().catch(() => {});
  }
  return ssl;
}

// Error codes after which withRetries tries again, with the minimum and the maximum wait in milliseconds.
const retried = new Map([
  ["40001", [50, 5_000]], // serialization_failure
  ["40P01", [50, 5_000]], // deadlock_detected
  ["57P03", [3_000, 120_000]], // cannot_connect_now
  ["EHOSTUNREACH", [3_000, 120_000]],
  ["ETIMEDOUT", [3_000, 120_000]],
]);
const mostTries = 100;

async function withRetries(work) {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const waits = retried.get(String(error?.code));
      if (!waits || tries + 1 >= mostTries) throw error;
      const wait = Math.min(waits[0] * 1.5 ** tries, waits[1]) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

// databaseHelpers returns the helpers that use the database.
function databaseHelpers(path, job) {
  const withPgClient = async (use) => {
    const pool = await poolFor(path);
    const client = await pool.connect();
    try {
      return await use(client);
    } finally {
      client.release();
    }
  };
  withPgClient.withRetries = (use) => withRetries(() => withPgClient(use));
  const query = (text, values) => withPgClient((client) => client.query(text, values));
  return {
    withPgClient,
    query,
    async addJob(identifier, payload, spec = {}) {
      const { rows } = await query(
        `select * from ${setup.schema}.add_job(identifier => $1::text, payload => $2::json, queue_name => $3::text,
           run_at => $4::timestamptz, max_attempts => $5::int, job_key => $6::text, priority => $7::int,
           flags => $8::text[], job_key_mode => $9::text)`,
        [
          identifier, JSON.stringify(payload ?? {}), spec.queueName || null, spec.runAt?.toISOString() ?? null,
          spec.maxAttempts || null, spec.jobKey || null, spec.priority || null, spec.flags || null, spec.jobKeyMode || null,
        ],
      );
      return { ...rows[0], task_identifier: identifier };
    },
    async addJobs(specs, jobKeyPreserveRunAt) {
      const rows = specs.map((spec) => ({
        identifier: spec.identifier, payload: spec.payload, queue_name: spec.queueName, run_at: spec.runAt?.toISOString(),
        max_attempts: spec.maxAttempts, job_key: spec.jobKey, priority: spec.priority, flags: spec.flags,
      }));
      const added = await query(
        `select * from ${setup.schema}.add_jobs(
           array(select json_populate_recordset(null::${setup.schema}.job_spec, $1::json)), $2::boolean)`,
        [JSON.stringify(rows), jobKeyPreserveRunAt],
      );
      return added.rows.map((row, i) => ({ ...row, task_identifier: specs[i].identifier }));
    },
    async getQueueName(id) {
      if (id === undefined) return job.queue_name;
      if (id === null) return null;
      const { rows } = await query(`select queue_name from ${setup.schema}._private_job_queues where id = $1`, [id]);
      if (rows.length === 0) throw new Error(`Queue with id '${id}' not found`);
      return rows[0].queue_name;
    },
  };
}

// makeHelpers returns the helpers of a task.
function makeHelpers(call, path, job) {
  const logger = new Logger(call.number);
  const { signal } = call.controller;
  const abortPromise = new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  abortPromise.catch(() => {}); // a task need not handle it
  return { job, logger, abortSignal: signal, abortPromise, ...databaseHelpers(path, job) };
}

// jobOf returns a job with the types that Graphile Worker gives it.
function jobOf(row) {
  const date = (text) => (text == null ? null : new Date(text));
  return {
    ...row,
    run_at: row.run_at == null ? -Infinity : date(row.run_at),
    created_at: date(row.created_at),
    locked_at: date(row.locked_at),
    is_available: false,
  };
}

// answer ends a call. Later answers of the same call are ignored.
function answer(call, outcome, result) {
  if (calls.delete(call.number)) tell({ done: call.number, ...outcome }, result);
}

// resultOf returns the JSON of the value that a task returned. A value that is no JSON is no result.
function resultOf(call, value) {
  const logger = new Logger(call.number);
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    logger.debug(`the value that the task returned is no result: ${messageOf(error)}`);
  }
  if (text === undefined || Buffer.byteLength(text) <= longestResult) return text;
  logger.warn(`the value that the task returned is no result: it has more than ${longestResult} bytes`);
}

const failure = (thrown) => ({ error: messageOf(thrown), stack: stackOf(thrown) });

// elementMessage returns the message of a rejected element of a batch, as Graphile Worker does.
function elementMessage(reason) {
  try {
    return textOf(reason?.message ?? String(reason));
  } catch (error) {
    return unprintable(reason, error);
  }
}

// batchOutcome returns the answer for a payload that is an array of this length: the failed elements with their errors.
async function batchOutcome(length, results) {
  if (results.length !== length) {
    console.warn(
      `the task returned an array of ${results.length} for a payload of ${length} elements, which counts as success of all; ` +
        "return nothing, or one promise or value for each element",
    );
    return {};
  }
  const failed = [];
  for (const [i, result] of (await Promise.allSettled(results)).entries()) {
    if (result.status === "rejected") failed.push([i, cut(elementMessage(result.reason), 1_024)]);
  }
  return failed.length > 0 ? { failed } : {};
}

async function run({ call: number, path, job: row }) {
  const call = { number, controller: new AbortController() };
  calls.set(number, call);
  await current.run(call, async () => {
    try {
      const task = await load(path);
      call.controller.signal.throwIfAborted(); // the call was aborted before it began
      const { payload } = row;
      const length = Array.isArray(payload) ? payload.length : undefined;
      const result = await task(payload, makeHelpers(call, path, jobOf(row)));
      if (length !== undefined && Array.isArray(result)) answer(call, await batchOutcome(length, result));
      else answer(call, {}, resultOf(call, result));
    } catch (thrown) {
      answer(call, failure(thrown));
    }
  });
}

function preload({ load: task, path }) {
  const loading = load(path)
    .then(() => tell({ loaded: task }), (error) => tell({ loaded: task, error: messageOf(error) }))
    .finally(() => loads.delete(loading));
  loads.add(loading);
}

function abort({ abort: number, reason }) {
  tell({ heard: number });
  calls.get(number)?.controller.abort(new Error(reason));
}

function take(line) {
  const message = JSON.parse(line);
  if (message.setup) setup = message.setup;
  else if (message.load !== undefined) preload(message);
  else if (message.call !== undefined) run(message);
  else if (message.abort !== undefined) abort(message);
}

// uncaught handles an error that no code catches. Node.js would end the process; here the job that threw it fails, and the
// process takes no more jobs, because its state is unknown.
function uncaught(what, thrown) {
  const call = current.getStore();
  const text = `${what}: ${messageOf(thrown)}`;
  tell({ retire: what, call: call?.number });
  if (call && calls.has(call.number)) answer(call, { error: text, stack: stackOf(thrown) });
  else new Logger().error(text, { stack: stackOf(thrown) });
}

process.on("uncaughtException", (error) => uncaught("uncaught exception", error));
process.on("unhandledRejection", (reason) => {
  // If a task's module has a listener of its own, that one handles the rejection.
  if (process.listenerCount("unhandledRejection") === 1) uncaught("unhandled rejection", reason);
});

// Output of JavaScript is sent as messages, so that it is assigned to the right job and arrives before the job's answer. Only
// other programs write to the streams themselves.
for (const print of ["stdout", "stderr"]) {
  process[print].write = (chunk, encoding, callback) => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    for (const line of text.replace(/\n$/, "").split("\n")) tell({ print, call: current.getStore()?.number, text: cut(line) });
    (typeof encoding === "function" ? encoding : callback)?.();
    return true;
  };
}

const exit = process.exit.bind(process);
process.exit = (code) => {
  const status = Number(code ?? process.exitCode ?? 0);
  tell({ exit: Number.isSafeInteger(status) ? status : 1, call: current.getStore()?.number });
  exit(Number.isSafeInteger(status) ? status : 1);
};

// finish ends the process. If jobs are still running, gw-run has ended, and other workers will run them.
async function finish() {
  if (calls.size > 0) exit(1);
  await Promise.allSettled(loads);
  await Promise.allSettled([...pools.values()].map(async (pool) => (await pool).end()));
  exit(0);
}

// readline is not used, because it also ends lines at U+2028, which a payload may contain.
const input = new Socket({ fd: 3, readable: true, writable: false }).setEncoding("utf8");
let rest = "";
input.on("data", (text) => {
  const lines = text.split("\n");
  lines[0] = rest + lines[0];
  rest = lines.pop();
  lines.forEach(take);
});
input.on("close", finish);
tell({ ready: true });
