package task_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// A failure is stored for any bytes that come from a program or a server: NUL, invalid UTF-8, half a surrogate pair as
// bytes or as an escape of JSON.
func TestWhatAnyTaskSaysOfItsFailureIsStored(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		_, _ = io.WriteString(w, "a\x00b\xffc\xed\xa0\x80d")
	})
	const printed = `printf 'a\000b\377c\355\240\200d\n'`
	redirecting := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/\xff\xed\xa0\x80?%00%ff")
		w.WriteHeader(301)
	})
	pool := pgtest.Pool(t, pgtest.Database(t))
	for name, c := range map[string]struct {
		handler shim.Handler
		want    string
	}{
		"stderr of a program": {task.Executable{Path: script(t, printed+" >&2; exit 3")}.Run,
			"exit code 3\na\uFFFDb\uFFFDc\uFFFDd"},
		"answer of a server": {handler(t, task.HTTP{URL: server.URL}), "POST " + server.URL +
			": answered 500 Internal Server Error\na\uFFFDb\uFFFDc\uFFFDd"},
		"where a server redirects to": {handler(t, task.HTTP{URL: redirecting.URL}), "POST " + redirecting.URL +
			": answered 301 Moved Permanently\n" +
			"The redirect to " + redirecting.URL +
			"/%FF%ED%A0%80 was not followed: it would change the POST to a GET."},
		"error of a child": {newPersistent(t, task.PersistentConfig{},
			loop(`printf '{"id":%s,"error":"a\\u0000b\\ud800c\\udfffd\377"}\n' "$id"`)).Run, "ab\uFFFDc\uFFFDd\uFFFD"},
		"answer of a child that is none": {newPersistent(t, task.PersistentConfig{}, loop(printed)).Run,
			"the task's program: its answer is invalid (invalid character 'a' looking for beginning of value): a\uFFFDb\uFFFDc\uFFFDd; " +
				"stdout is for answers only, the program must log to stderr"},
	} {
		t.Run(name, func(t *testing.T) {
			pgtest.Exec(t, pool, `delete from graphile_worker._private_jobs`)
			pgtest.Exec(t, pool, `select graphile_worker.add_job('a', '{"a": "\u0000\ud800"}')`)
			workOnce(t, pool, c.handler)
			got := pgtest.Value[string](t, pool,
				`select coalesce(last_error, '') from graphile_worker.jobs where attempts = 1 and locked_at is null`)
			if got != c.want {
				t.Errorf("the last error is %q, want %q", got, c.want)
			}
		})
	}
}
