// Runs a Graphile Worker until a signal ends it, or until stdin closes: then whoever started it is gone.
// The argument is JSON: version (gw16, gw17 or gw18); preset, the settings under preset.worker; tasks, the bodies of
// async functions of (payload, helpers) by their names, unless the preset has a taskDirectory; forbiddenFlags; ahead, by
// how many milliseconds its clock is.
const { version, preset, tasks, forbiddenFlags, ahead } = JSON.parse(process.argv[2]);

if (ahead) {
  const RealDate = Date;
  globalThis.Date = class Date extends RealDate {
    constructor(...args) {
      super(...(args.length > 0 ? args : [RealDate.now() + ahead]));
    }
    static now() {
      return RealDate.now() + ahead;
    }
  };
}
const { run } = await import(version);

const AsyncFunction = (async () => {}).constructor;
const taskList = tasks && Object.fromEntries(
  Object.entries(tasks).map(([name, body]) => [name, new AsyncFunction("payload", "helpers", body)]),
);

process.stdin.on("end", () => process.kill(process.pid, "SIGKILL")).resume();

const runner = await run({ preset: { worker: preset }, taskList, forbiddenFlags });
await runner.promise;
// What it says by its exit code it says now; a signal that has ended it comes again.
if (process.exitCode) process.exit();
