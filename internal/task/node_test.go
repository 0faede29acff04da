package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// modules are files of tasks, and a Node that runs them.
type modules struct {
	t    *testing.T
	dir  string
	node *task.Node
}

// newModules writes files, whose names say how Node.js reads them, and makes a Node that is closed after the test.
func newModules(t *testing.T, config task.NodeConfig, files map[string]string) *modules {
	t.Helper()
	pgtest.OnOneVersion(t)
	m := &modules{t: t, dir: t.TempDir()}
	for name, text := range files {
		write(t, 0o600, text, filepath.Join(m.dir, name))
	}
	launcher := task.NewLauncher()
	t.Cleanup(launcher.Close)
	config.Program, config.Launcher, config.Logger = task.NodeProgram{Path: nodegw.Node(t)}, launcher, slog.Default()
	m.node = task.NewNode(config)
	t.Cleanup(m.node.Close)
	return m
}

func (m *modules) run(ctx context.Context, file string, id int64, payload string,
	change ...func(*task.NodeModule)) error {
	module := task.NodeModule{Task: "a", Path: filepath.Join(m.dir, file), KillDelay: 10 * time.Second}
	for _, change := range change {
		change(&module)
	}
	return m.node.Run(ctx, module, jobOf(id, payload))
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is\n%v, want it to contain\n%s", err, want)
	}
}

func TestModulesAreRunHoweverTheyExportTheirTask(t *testing.T) {
	captureLog(t)
	const body = `{ if (payload.n !== 7 || helpers.job.id !== "3") throw new Error("got " + JSON.stringify(payload)); throw new Error("it ran"); }`
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"esm.mjs":      `export default async (payload, helpers) => ` + body,
		"detected.js":  `export default async (payload, helpers) => ` + body,
		"common.cjs":   `module.exports = async (payload, helpers) => ` + body,
		"compiled.js":  `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); exports.default = async (payload, helpers) => ` + body,
		"object.cjs":   `module.exports = { default: (payload, helpers) => ` + body + ` };`,
		"typed.ts":     `type P = { n: number }; const task = async (payload: P, helpers: { job: { id: string } }): Promise<void> => ` + body + `; export default task;`,
		"typed.mts":    `export default async (payload: { n: number }, helpers: any) => ` + body,
		"imports.mjs":  `import task from "./esm.mjs"; export { task as default };`,
		"functions.js": `module.exports = function (payload, helpers) ` + body,
	})
	for _, file := range []string{"esm.mjs", "detected.js", "common.cjs", "compiled.js", "object.cjs", "typed.ts",
		"typed.mts", "imports.mjs", "functions.js"} {
		if err := m.run(t.Context(), file, 3, `{"n":7}`); err == nil || err.Error() != "it ran" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestJobsOfOneProcessRunAtTheSameTime(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"meet.mjs": `
		const here = [];
		export default async (payload) => {
		  await new Promise((resolve) => { if (here.push(resolve) === 3) here.forEach((go) => go()); });
		};`})
	var jobs sync.WaitGroup
	for id := range int64(3) {
		jobs.Go(func() {
			if err := m.run(t.Context(), "meet.mjs", id+1, "{}"); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
}

func TestAModuleThatCannotBeLoadedSaysWhereAndWhy(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"syntax.mjs":  "export default async () => {\n  const = 1;\n};\n",
		"syntax.cjs":  "module.exports = async () => {\n  const = 1;\n};\n",
		"syntax.ts":   "export default async (a: number => {\n};\n",
		"missing.mjs": "import 'no-such-package';\nexport default () => {};\n",
		"throws.mjs":  "throw new Error('no configuration');\n",
		"nothing.mjs": "export const task = () => {};\n",
		"number.mjs":  "export default 7;\n",
		"fine.mjs":    "export default () => {};\n",
	})
	for file, wants := range map[string][]string{
		"syntax.mjs":  {"syntax.mjs:2", "const = 1", "SyntaxError: Unexpected token '='"},
		"syntax.cjs":  {"syntax.cjs:2", "const = 1", "SyntaxError: Unexpected token '='"},
		"syntax.ts":   {"syntax.ts", "SyntaxError"},
		"missing.mjs": {"missing.mjs", "Cannot find package 'no-such-package'"},
		"throws.mjs":  {"Error: no configuration", "throws.mjs:1:7"},
		"nothing.mjs": {"nothing.mjs: its default export is missing; a task is a function: export default async (payload, helpers)"},
		"number.mjs":  {"number.mjs: its default export is of type number"},
	} {
		t.Run(file, func(t *testing.T) {
			m.node.Load(task.NodeModule{Task: file, Path: filepath.Join(m.dir, file)})
			err := m.run(t.Context(), file, 1, "{}")
			for _, want := range wants {
				wantError(t, err, want)
			}
			if err != nil && strings.Contains(err.Error(), "node:internal") {
				t.Errorf("it tells of Node.js itself: %v", err)
			}
		})
	}
	for _, file := range []string{"syntax.mjs", "syntax.cjs", "syntax.ts", "missing.mjs", "throws.mjs", "nothing.mjs",
		"number.mjs"} {
		logged.waitFor(t, "a warning for "+file, func(line logLine) bool {
			return line.Msg == "the task's module cannot be loaded, its jobs will fail" && line.Level == "WARN" &&
				line.Task == file
		})
	}
	if err := m.run(t.Context(), "fine.mjs", 1, "{}"); err != nil {
		t.Error(err)
	}
}

func TestWhatATaskThrowsIsItsError(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"throw.mjs": `export default async (payload) => { throw new Function("return " + payload)(); };`})
	for thrown, want := range map[string]string{
		`new Error("no such mailbox")`: "no such mailbox",
		`new Error("")`:                "Error",
		`new TypeError("")`:            "TypeError",
		`({ message: "plain" })`:       "plain",
		`"text"`:                       "text",
		`null`:                         "An error occurred",
		`new Error("a\u0000b")`:        "a\uFFFDb",
	} {
		payload, err := json.Marshal(thrown)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.run(t.Context(), "throw.mjs", 1, string(payload)); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", thrown, err, want)
		}
	}
}

// thrownValues are values that a task can throw, as expressions of JavaScript, with the error of the job.
var thrownValues = map[string]string{
	`Object.assign(new Error("a"), { message: ["one", 2] })`:                                          `["one",2]`,
	`Object.assign(new Error("a"), { message: { code: 7 } })`:                                         `{"code":7}`,
	`Object.assign(new Error("a"), { message: 7 })`:                                                   "7",
	`Object.assign(new Error("a"), { message: true })`:                                                "true",
	`Object.assign(new Error("a"), { message: 7n })`:                                                  "7",
	`Object.assign(new Error("a"), { message: Symbol("s") })`:                                         "Symbol(s)",
	`Object.assign(new Error("a"), { message: Object.create(null) })`:                                 "{}",
	`Object.assign(new Error("a"), { message: null })`:                                                "Error: null",
	`Object.assign(new Error(""), { name: "" })`:                                                      "Non error or error without message thrown.",
	`Object.assign(new Error("a"), { stack: 7 })`:                                                     "a",
	`Object.assign(new Error("a"), { stack: { frames: [] } })`:                                        "a",
	`Object.assign(new Error("a"), { stack: null })`:                                                  "a",
	`(() => { Error.prepareStackTrace = (_, frames) => frames; return new Error("a"); })()`:           "a",
	`(() => { Error.prepareStackTrace = () => { throw new Error("b"); }; return new Error("a"); })()`: "a",
	`Object.defineProperty(new Error("a"), "stack", { get() { throw new Error("b"); } })`:             "a",
	`Object.defineProperty(new Error("a"), "message", { get() { throw new Error("b"); } })`:           "a value of type object that cannot be printed: b",
	`Object.defineProperty(new Error("a"), "message", { get() { throw Object.create(null); } })`:      "a value of type object that cannot be printed",
	`({ get message() { throw null; } })`:                                                             "a value of type object that cannot be printed: null",
	`({ message: { toString() { return {}; } } })`:                                                    "a value of type object that cannot be printed: Cannot convert object to primitive value",
	`({ message: ["one", 2] })`:                                                                       "one,2",
	`({ message: "" })`:                                                                               "Error",
	`({ code: 7 })`:                                                                                   "An error occurred",
	`Object.create(null)`:                                                                             "An error occurred",
	`Object.assign(Object.create(null), { message: "bare" })`:                                         "bare",
	`new Proxy({}, { has() { throw new Error("b"); }, getPrototypeOf() { throw new Error("c"); } })`:  "a value of type object that cannot be printed: c",
	`(() => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy; })()`:                    "a value of type object that cannot be printed: Cannot perform 'getPrototypeOf' on a proxy that has been revoked",
	`(() => "code")`:        "An error occurred",
	`Symbol("s")`:           "Symbol(s)",
	`undefined`:             "An error occurred",
	`""`:                    "An error occurred",
	`0`:                     "0",
	`10n`:                   "10",
	`"\ud800"`:              "\uFFFD",
	`new Error("\ud83d%s")`: "\uFFFD%s",
}

// thrower throws the value of an expression, its payload, in the way that its second element names. Whatever it changed
// for all tasks, such as Error.prepareStackTrace, it restores later.
const thrower = `
	export default async ([expression, way], { logger, helpers }) => {
	  setTimeout(() => { delete Error.prepareStackTrace; }, 50);
	  const value = new Function("return " + expression)();
	  switch (way) {
	    case "throw": throw value;
	    case "reject": return [Promise.reject(value), 1];
	    case "late": setTimeout(() => { throw value; }); return new Promise(() => {});
	    case "lost": Promise.reject(value); return new Promise(() => {});
	    case "log": logger.scope({ value }).warn(value, { toJSON() { throw value; } }); logger.log(value, "m"); return;
	    case "return": return { toJSON() { throw value; } };
	  }
	};`

func TestAnyThrownValueIsAnErrorAndHarmsNoOtherJob(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"throw.mjs": thrower,
		"pid.mjs":   `export default () => { throw new Error("pid " + process.pid); };`,
	})
	begin := func(thrown, way string) (err error) {
		payload, err := json.Marshal([]string{thrown, way})
		if err != nil {
			t.Fatal(err)
		}
		return m.run(t.Context(), "throw.mjs", 1, string(payload),
			func(m *task.NodeModule) { m.Timeout = 20 * time.Second })
	}
	before := m.run(t.Context(), "pid.mjs", 1, "{}").Error()
	for thrown, want := range thrownValues {
		if err := begin(thrown, "throw"); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", thrown, err, want)
		}
		if err := begin(thrown, "reject"); err == nil || !strings.HasPrefix(err.Error(), "Batch failures:\n") {
			t.Errorf("%s, an element of a batch: %v", thrown, err)
		}
		for _, way := range []string{"log", "return"} {
			if err := begin(thrown, way); err != nil {
				t.Errorf("%s, %s: %v", thrown, way, err)
			}
		}
	}
	if after := m.run(t.Context(), "pid.mjs", 1, "{}").Error(); after != before {
		t.Errorf("jobs ran in another process: %s, before %s", after, before)
	}
	for thrown, want := range thrownValues {
		for way, prefix := range map[string]string{"late": "uncaught exception: ", "lost": "unhandled rejection: "} {
			if err := begin(thrown, way); err == nil || err.Error() != prefix+want {
				t.Errorf("%s, %s: error is %v, want %s%s", thrown, way, err, prefix, want)
			}
		}
	}
}

func TestAModuleThatThrowsAnyValueCannotBeLoadedAndSaysWhy(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"object.mjs": `throw { message: ["one", 2] };`,
		"bare.mjs":   `throw Object.create(null);`,
		"stack.mjs":  `throw Object.assign(new Error("a"), { stack: 7 });`,
		"getter.mjs": `throw Object.defineProperty(new Error("a"), "message", { get() { throw null; } });`,
		"proxy.mjs":  `const p = Proxy.revocable({}, {}); p.revoke(); throw p.proxy;`,
	})
	for file, want := range map[string]string{"object.mjs": "one,2", "bare.mjs": "An error occurred", "stack.mjs": "a",
		"getter.mjs": "cannot be printed: null", "proxy.mjs": "revoked"} {
		m.node.Load(task.NodeModule{Task: file, Path: filepath.Join(m.dir, file)})
		wantError(t, m.run(t.Context(), file, 1, "{}"), want)
		logged.waitFor(t, "a warning for "+file, func(line logLine) bool {
			return line.Level == "WARN" &&
				line.Task == file
		})
	}
}

func TestAnyArgumentOfProcessExitIsAStatus(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"exit.mjs": `export default (payload) => process.exit(new Function("return " + payload)());`})
	for argument, status := range map[string]int{"NaN": 1, "'x'": 1, "2.5": 1, "1e300": 1, "'4'": 4, "undefined": 0} {
		payload, err := json.Marshal(argument)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, m.run(t.Context(), "exit.mjs", 1, string(payload)), fmt.Sprintf("the task called process.exit(%d)",
			status))
	}
}

func TestABatchFailsForItsRejectedElements(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"batch.mjs": `
		export default async (payload) => payload.map(async (n) => { if (n % 2) throw new Error("odd: " + n); });`,
		"short.mjs": `export default async () => [Promise.resolve()];`,
	})
	err := m.run(t.Context(), "batch.mjs", 1, "[1,2,3,\n12345678901234567891]")
	batch, ok := errors.AsType[*shim.BatchError](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	rest, restErr := batch.Remaining(json.RawMessage("[1,2,3,12345678901234567891]"))
	want(t, "rest", string(rest), "[1,3]")
	want(t, "error", err.Error(), "Batch failures:\nodd: 1\nodd: 3")
	if restErr != nil {
		t.Error(restErr)
	}
	for file, payload := range map[string]string{"batch.mjs": "[2,4]", "short.mjs": "[1,2]"} {
		if err := m.run(t.Context(), file, 1, payload); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestTheJSONThatATaskReturnsIsTheResultOfItsJob(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"give.mjs": `
		const circular = {};
		circular.self = circular;
		const values = {
		  object: { a: [1, "\u2028\n"], b: undefined }, number: 0.5, null: null, date: new Date(0),
		  nothing: undefined, function: () => 1, circular, bigint: 1n,
		  large: "x".repeat(3_000_000), "too large": "x".repeat(64 * 1024 * 1024),
		};
		export default async (payload) => (typeof payload === "string" ? values[payload] : payload.map(async (n) => n));`,
	})
	module := task.NodeModule{Task: "a", Path: filepath.Join(m.dir, "give.mjs")}
	for payload, result := range map[string]string{
		`"object"`: `{"a":[1,"\u2028\n"]}`, `"number"`: "0.5", `"null"`: "null", `"date"`: `"1970-01-01T00:00:00.000Z"`,
		`"nothing"`: "", `"function"`: "", `"circular"`: "", `"bigint"`: "", "[1,2]": "",
		`"large"`: `"` + strings.Repeat("x", 3_000_000) + `"`, `"too large"`: "",
	} {
		job := jobOf(1, payload)
		err := m.node.Run(t.Context(), module, job)
		if got := string(job.Result()); err != nil || got != result &&
			got != strings.ReplaceAll(result, `\u2028`, "\u2028") {
			t.Errorf("%s: the result is %.100q, want %.100q; error: %v", payload, got, result, err)
		}
	}
}

func TestTheAbortSignalFiresWhenTheTimeIsOverAndAnAnswerCounts(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"wait.mjs": `
		export default async (payload, { abortSignal, abortPromise, logger }) => {
		  logger.info("waits " + payload);
		  if (payload === "warm up") return;
		  if (payload === "answers") return new Promise((resolve) => abortSignal.addEventListener("abort", resolve));
		  await abortPromise;
		};`})
	if err := m.run(t.Context(), "wait.mjs", 1, `"warm up"`); err != nil {
		t.Error(err)
	}
	short := func(m *task.NodeModule) { m.Timeout = 200 * time.Millisecond }
	if err := m.run(t.Context(), "wait.mjs", 1, `"answers"`, short); err != nil {
		t.Error(err)
	}
	err := m.run(t.Context(), "wait.mjs", 1, `"fails"`, short)
	if err == nil || err.Error() != "timed out after 200ms" {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { done <- m.run(ctx, "wait.mjs", 42, `"cancelled"`) }()
	logged.wait(t, "waits cancelled")
	cancel(shim.ErrShutdown)
	wantError(t, <-done, "worker is shutting down")
}

func TestATaskThatDoesNotEndFailsAndItsProcessIsReplaced(t *testing.T) {
	captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"deaf.mjs": `export default () => new Promise(() => {});`,
		"busy.mjs": `export default () => { for (;;); };`,
		"pid.mjs":  `export default () => { throw new Error("pid " + process.pid); };`,
	})
	before := m.run(t.Context(), "pid.mjs", 1, "{}").Error()
	for file, want := range map[string]string{
		"deaf.mjs": "timed out after 200ms, and the task kept running for 100ms after its abortSignal had fired",
		"busy.mjs": "timed out after 200ms, and Node.js did not react for 100ms: the code of a task keeps its event loop busy",
	} {
		err := m.run(t.Context(), file, 1, "{}", func(m *task.NodeModule) {
			m.Timeout,
				m.KillDelay = 200*time.Millisecond, 100*time.Millisecond
		})
		wantError(t, err, want)
		after := m.run(t.Context(), "pid.mjs", 1, "{}").Error()
		if after == before || !strings.HasPrefix(after, "pid ") {
			t.Errorf("%s: then %s, before %s", file, after, before)
		}
		before = after
	}
}

func TestWhatNobodyCatchesFailsTheJobAndReplacesTheProcess(t *testing.T) {
	captureLog(t)
	for name, c := range map[string]struct{ body, want string }{
		"exit": {`process.exit(3)`, "the task called process.exit(3)"},
		"exit later": {`setTimeout(() => process.exit(0), 1); return new Promise(() => {})`,
			"the task called process.exit(0)"},
		"uncaught exception": {`setTimeout(() => { throw new Error("late"); }, 1); return new Promise(() => {})`,
			"uncaught exception: late"},
		"unhandled rejection": {`Promise.reject(new Error("lost")); return new Promise(() => {})`,
			"unhandled rejection: lost"},
		"crash": {`console.error("not good"); process.abort()`,
			"its Node.js process ended: killed by signal SIGABRT (6)\nnot good"},
		"foreign output": {`require("fs").writeSync(4, "hello\n"); return new Promise(() => {})`,
			"its Node.js process ended: a task has written to file descriptor 4, which is reserved for gw-run: hello"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModules(t, task.NodeConfig{}, map[string]string{
				"bad.cjs": `module.exports = async () => { ` + c.body + ` };`,
				"pid.mjs": `export default () => { throw new Error("pid " + process.pid); };`,
			})
			before := m.run(t.Context(), "pid.mjs", 1, "{}").Error()
			err := m.run(t.Context(), "bad.cjs", 1, "{}")
			for want := range strings.Lines(c.want) { // Node.js itself may complain in between
				wantError(t, err, strings.TrimSpace(want))
			}
			if after := m.run(t.Context(), "pid.mjs", 1, "{}").Error(); after == before ||
				!strings.HasPrefix(after, "pid ") {
				t.Errorf("then %s, before %s", after, before)
			}
		})
	}
}

func TestJobsBesideOneThatIsToBlameAreNotItsVictims(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{
		"wait.mjs":  `export default (payload, { logger, job }) => new Promise((resolve) => { logger.info("waits " + job.id); globalThis.go = resolve; });`,
		"throw.mjs": `export default () => new Promise(() => { setTimeout(() => { setTimeout(() => globalThis.go()); throw new Error("late"); }); });`,
		"exit.mjs":  `export default () => process.exit(3);`,
	})
	begin := func(id int64) chan error {
		done := make(chan error, 1)
		go func() { done <- m.run(t.Context(), "wait.mjs", id, "{}") }()
		logged.wait(t, fmt.Sprintf("waits %d", id))
		return done
	}
	done := begin(51)
	wantError(t, m.run(t.Context(), "throw.mjs", 2, "{}"), "uncaught exception: late")
	if err := <-done; err != nil {
		t.Errorf("a job beside one that threw: %v", err)
	}
	done = begin(52)
	wantError(t, m.run(t.Context(), "exit.mjs", 2, "{}"), "the task called process.exit(3)")
	err := <-done
	if snoozed, ok := errors.AsType[*shim.SnoozeError](err); !ok || snoozed.Delay != time.Second {
		t.Errorf("a job beside one that called process.exit: %v", err)
	}
}

func TestWhatTasksLogHasTheirLevelJobAndScope(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{}, map[string]string{"log.mjs": `
		export default (payload, { logger }) => {
		  console.log("to stdout\nin %d lines", 2);
		  process.stderr.write(Buffer.from("to stderr\n"));
		  logger.info("an info", { to: "Ada" });
		  logger.scope({ part: 2 }).warn("a warning");
		  logger.error("an error");
		};`})
	if err := m.run(t.Context(), "log.mjs", 7, "{}"); err != nil {
		t.Fatal(err)
	}
	for message, stream := range map[string]string{"to stdout": "stdout", "in 2 lines": "stdout",
		"to stderr": "stderr"} {
		logged.waitFor(t, message, func(line logLine) bool {
			return line.Msg == message && line.JobID == 7 &&
				line.Stream == stream
		})
	}
	for message, want := range map[string]logLine{
		"an info":   {Level: "INFO", Meta: `{"to":"Ada"}`},
		"a warning": {Level: "WARN", Part: "2"},
		"an error":  {Level: "ERROR"},
	} {
		logged.waitFor(t, message, func(line logLine) bool {
			return line.Msg == message && line.JobID == 7 && line.Task == "a" && line.Level == want.Level &&
				line.Meta == want.Meta && line.Part == want.Part
		})
	}
}

// waitFor waits for a line that is as wanted.
func (c *capture) waitFor(t *testing.T, what string, wanted func(logLine) bool) {
	t.Helper()
	deadline := time.After(patience)
	for !slices.ContainsFunc(c.lines(t), wanted) {
		select {
		case <-c.changed:
		case <-deadline:
			t.Fatalf("no line is %s", what)
		}
	}
}

func TestProcessesEndWithTheirNode(t *testing.T) {
	logged := captureLog(t)
	m := newModules(t, task.NodeConfig{Processes: 2}, map[string]string{"pid.mjs": `
		export default (payload, { logger }) => new Promise((resolve) => { logger.info("pid " + process.pid); setTimeout(resolve, 100); });`})
	var jobs sync.WaitGroup
	for id := range int64(4) {
		jobs.Go(func() {
			if err := m.run(t.Context(), "pid.mjs", id+1, "{}"); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	m.node.Close()
	pids := make(map[int]bool)
	for _, line := range logged.lines(t) {
		if pid, ok := strings.CutPrefix(line.Msg, "pid "); ok {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			pids[n] = true
		}
	}
	if len(pids) != 2 {
		t.Errorf("they ran in %d processes, want 2", len(pids))
	}
	for pid := range pids {
		waitGone(t, pid)
	}
}
