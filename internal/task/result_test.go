package task_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

const irregular = "read the result in GW_RESULT_FILE: it is not a regular file"

func TestWhatAProgramWritesToTheResultFileIsTheResult(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, c := range []struct{ body, result, err string }{
		{`echo '{"sum": 3}' > "$GW_RESULT_FILE"`, `{"sum": 3}`, ""},
		{`exit 0`, "", ""},
		{`: > "$GW_RESULT_FILE"`, "", ""},
		{`echo 'sum: 3' > "$GW_RESULT_FILE"`, "", "the result in GW_RESULT_FILE is not valid JSON: sum: 3"},
		{`echo 3 > "$GW_RESULT_FILE"; exit 1`, "", "exit code 1"},
		{`echo 3 > "$GW_RESULT_FILE.new" && mv "$GW_RESULT_FILE.new" "$GW_RESULT_FILE"`, "3", ""},
		{`echo 3 > "${GW_RESULT_FILE%/*}/other" && ln -s other "$GW_RESULT_FILE"`, "3", ""},
		{`mkfifo "$GW_RESULT_FILE"`, "", irregular},
		{`mkfifo "${GW_RESULT_FILE%/*}/pipe" && ln -s pipe "$GW_RESULT_FILE"`, "", irregular},
		{`ln -s /dev/zero "$GW_RESULT_FILE"`, "", irregular},
		{`ln -s /dev/tty "$GW_RESULT_FILE"`, "", irregular},
		{`ln -s /dev/stdin "$GW_RESULT_FILE"`, "", irregular},
		{`mkdir "$GW_RESULT_FILE"`, "", irregular},
		{`ln -s nothing "$GW_RESULT_FILE"`, "", ""},
		{`rm -r "${GW_RESULT_FILE%/*}"`, "", ""},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		job := newJob()
		began := time.Now()
		err := (task.Executable{Path: script(t, c.body)}).Run(t.Context(), job)
		wantResult(t, c.body, job, err, c.result, c.err)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: it took %s", c.body, took)
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("%s: %d files are left behind", c.body, len(left))
		}
	}
}

// A worker that is killed cannot remove the folders of its jobs, so the next one does, but none that is in use.
func TestTheFoldersOfDeadWorkersAreSwept(t *testing.T) {
	pgtest.OnOneVersion(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, name := range []string{"gw-result-1", "gw-result-2", "gw-other"} {
		if err := errors.Join(os.Mkdir(filepath.Join(folder, name), 0o700),
			os.WriteFile(filepath.Join(folder, name, "result.json"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(folder, "gw-other"), filepath.Join(folder, "gw-result-link")); err != nil {
		t.Fatal(err)
	}
	release, job := filepath.Join(folder, "release"), newJob()
	ended := make(chan error)
	go func() {
		ended <- task.Executable{Path: script(t,
			`touch "$TMPDIR/started"; until [ -e "$TMPDIR/release" ]; do sleep 0.01; done; echo 3 > "$GW_RESULT_FILE"`)}.
			Run(t.Context(), job)
	}()
	for {
		if _, err := os.Stat(filepath.Join(folder, "started")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	task.SweepResults()
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantResult(t, "a job that runs meanwhile", job, <-ended, "3", "")
	if left, _ := filepath.Glob(filepath.Join(folder, "gw-*")); len(left) != 2 {
		t.Errorf("left are %q, want gw-other and the link to it", left)
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
