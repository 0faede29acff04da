package beside

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/tests/go/nodegw"
)

// thrownOnBothSides are the values, as expressions of JavaScript, for which Graphile Worker stores an error that says something. It
// ends at others, such as a message that is a symbol, and stores the same text for any string and number.
var thrownOnBothSides = []string{
	`new Error("no such mailbox")`, `new TypeError("")`, `Object.assign(new Error(""), { name: "" })`,
	`Object.assign(new Error("a"), { message: { code: 7 } })`, `Object.assign(new Error("a"), { message: 7 })`,
	`Object.assign(new Error("a"), { message: true })`,
	`Object.assign(new Error("a"), { message: null })`, `Object.assign(new Error("a"), { message: "" })`,
	`Object.assign(new Error("a"), { stack: 7 })`, `Object.assign(new Error("a"), { stack: ["one", 2] })`,
	`Object.assign(new Error("a"), { stack: null })`, `Object.assign(new Error("a"), { stack: "" })`,
	`(() => { Error.prepareStackTrace = (_, frames) => frames; const e = new Error("a"); e.stack; delete Error.prepareStackTrace; return e; })()`,
	`({ message: "plain" })`, `({ message: ["one", 2] })`, `({ message: { code: 7 } })`, `({ message: 7 })`,
	`({ message: "" })`,
	`({ message: null })`, `({ message: undefined })`, `({ code: 7 })`, `["one", 2]`, `Object.create(null)`,
	`Object.assign(Object.create(null), { message: "bare" })`, `null`, `undefined`, `""`, `(() => 1)`,
}

func TestAThrownValueBecomesTheSameErrorOnBothSides(t *testing.T) {
	t.Parallel()
	tasks := t.TempDir()
	module := `export default (payload) => { throw new Function("return " + payload.thrown)(); };`
	if err := os.WriteFile(filepath.Join(tasks, "throw.mjs"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	_, path := moduleTasks(t)
	run := func(work func(q *queue) (stop func())) []string {
		q := newQueue(t)
		for _, thrown := range thrownOnBothSides {
			payload, err := json.Marshal(map[string]string{"thrown": thrown})
			if err != nil {
				t.Fatal(err)
			}
			q.exec("select graphile_worker.add_job('throw', $1::json, max_attempts => 1)", string(payload))
		}
		stop := work(q)
		q.await("select bool_and(last_error is not null and locked_at is null) from graphile_worker.jobs")
		stop()
		return values[string](q, "select last_error from graphile_worker.jobs order by id")
	}
	node := run(func(q *queue) func() {
		return nodegw.Start(t, nodegw.Options{DatabaseURL: q.url, TaskDir: tasks, PollInterval: nodePoll}).Stop
	})
	ours := run(func(q *queue) func() { return q.gwrun(tasks, path) })
	for i, thrown := range thrownOnBothSides {
		if ours[i] != node[i] {
			t.Errorf("%s: the error is %q with gw-run, %q with Node", thrown, ours[i], node[i])
		}
	}
}
