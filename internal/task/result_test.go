package task_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

func TestWhatAProgramWritesToTheResultFileIsTheResult(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, c := range []struct{ body, result, err string }{
		{`echo '{"sum": 3}' > "$GW_RESULT_FILE"`, `{"sum": 3}`, ""},
		{`exit 0`, "", ""},
		{`: > "$GW_RESULT_FILE"`, "", ""},
		{`echo 'sum: 3' > "$GW_RESULT_FILE"`, "", "the result in GW_RESULT_FILE is not valid JSON: sum: 3"},
		{`echo 3 > "$GW_RESULT_FILE"; exit 1`, "", "exit code 1"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		job := newJob()
		err := (task.Executable{Path: script(t, c.body)}).Run(t.Context(), job)
		wantResult(t, c.body, job, err, c.result, c.err)
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("%s: %d files are left behind", c.body, len(left))
		}
	}
}

func TestTheJSONOfAnAnswerIsTheResult(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, c := range []struct {
		status             int
		kind, body, result string
	}{
		{200, "application/json; charset=utf-8", ` {"sum": 3} `, `{"sum": 3}`},
		{201, "application/vnd.sum+json", `[1]`, `[1]`},
		{200, "text/plain", `{"sum": 3}`, ""},
		{200, "application/json", `sum: 3`, ""},
		{204, "application/json", ``, ""},
		{200, "application/json", `"` + strings.Repeat("x", 1<<20) + `"`, ""},
	} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		job := newJob()
		wantResult(t, c.kind, job, post(t, task.HTTP{URL: server.URL}, job), c.result, "")
	}
}

func TestAPersistentProgramAnswersWithAResult(t *testing.T) {
	pgtest.OnOneVersion(t)
	p := newPersistent(t, task.PersistentConfig{}, loop(`echo '{"id":'$id',"ok":true,"result":{"sum":3}}'`))
	job := jobOf(1, "{}")
	wantResult(t, "persistent", job, p.Run(t.Context(), job), `{"sum":3}`, "")
}

func wantResult(t *testing.T, what string, job *shim.Job, err error, result, message string) {
	t.Helper()
	if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
		t.Errorf("%s: the error is %v, want %q", what, err, message)
	}
	if got := job.Result(); string(got) != result || got != nil && !json.Valid(got) {
		t.Errorf("%s: the result is %.100s, want %s", what, got, result)
	}
}
