package shards

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestTheConsoleShowsAllShardsOrOne(t *testing.T) {
	pgtest.OnOneVersion(t)
	f := newFleet(t)
	pgtest.Exec(t, f.pools["c"], `select graphile_worker.add_job_at(128, 'mail', queue_name => 'q')`)
	for _, c := range []struct {
		args  []string
		pages map[string]string
	}{
		{nil, map[string]string{"": `<a href="s/c/jobs?state=ready">1</a>`, "s/c/jobs": "mail"}},
		{[]string{"--shard", "c"}, map[string]string{"jobs": "mail"}},
	} {
		url := f.serveConsole(c.args...)
		for path, want := range c.pages {
			answer, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			page, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil || answer.StatusCode != 200 || !strings.Contains(string(page), want) {
				t.Errorf("with %v, %q is answered by %d without %s: %v\n%s", c.args, path, answer.StatusCode, want, err, page)
			}
		}
	}
}

// serveConsole runs gw-run ui with the map until the end of the test, and returns its URL.
func (f *fleet) serveConsole(args ...string) (url string) {
	f.t.Helper()
	args = append([]string{"ui", "--shards", f.mapPath, "--http", "127.0.0.1:0"}, args...)
	console := exec.CommandContext(f.t.Context(), pgtest.Program(f.t, "gw-run"), args...)
	console.Stderr = f.t.Output()
	out, err := console.StdoutPipe()
	if err == nil {
		err = console.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = console.Process.Kill()
		_ = console.Wait()
	})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			f.t.Fatalf("gw-run ui printed no URL: %v", err)
		}
		if _, after, ok := strings.Cut(line, "Console: "); ok {
			return strings.TrimSpace(after)
		}
	}
}
