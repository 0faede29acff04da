package task_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

func TestWhatIsWrongWithATaskIsSaidBeforeItRunsAndAllAtOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	empty := write(t, 0o644, "nothing", t.TempDir(), "ca.pem")
	for name, c := range map[string]struct {
		http task.HTTP
		want []string
	}{
		"no URL":             {task.HTTP{}, []string{"must begin with http:// or https://"}},
		"another scheme":     {task.HTTP{URL: "ftp://a/b"}, []string{"must begin with http:// or https://"}},
		"no host":            {task.HTTP{URL: "http:///b"}, []string{"has no host"}},
		"only a port":        {task.HTTP{URL: "http://:80/b"}, []string{"has no host"}},
		"host from the task": {task.HTTP{URL: "http://{task}.example/"}, []string{"not before them"}},
		"port from the job":  {task.HTTP{URL: "http://a:80{job_id}/"}, []string{"not before them"}},
		"user from the task": {task.HTTP{URL: "http://{task}@a/"}, []string{"not before them"}},
		"placeholder":        {task.HTTP{URL: "http://a/{Task}"}, []string{"{Task} is not a placeholder"}},
		"fragment":           {task.HTTP{URL: "http://a/#b"}, []string{"fragment"}},
		"not a URL":          {task.HTTP{URL: "http://user:secret@a:b/"}, []string{"invalid port"}},
		"CA file missing": {task.HTTP{URL: "https://a", CAFile: empty + "x"},
			[]string{"read CA file: no such file"}},
		"CA file empty": {task.HTTP{URL: "https://a", CAFile: empty}, []string{"contains no certificate"}},
		"several": {
			task.HTTP{
				URL: "a", CAFile: empty, Timeout: -1,
				Headers: map[string]string{
					"gw-task": "x", "content-length": "1", "a b": "x", "X": "a\nb", "idempotency-key": "x",
					"webhook-id": "x",
				},
			},
			[]string{
				"must begin with", "contains no certificate", "timeout is -1ns", "header gw-task cannot",
				"header content-length cannot",
				`header "a b"`, "header X: its value", "header idempotency-key cannot",
				"header webhook-id cannot",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.http.Handler()
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want one with %q", err, part)
				}
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}
