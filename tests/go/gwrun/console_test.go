package gwrun

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// consoleURL waits for a line that tells the address of a console.
func consoleURL(t *testing.T, output *transcript, before string) string {
	t.Helper()
	var address string
	output.wait(t, "the address of the console", func(line string) bool {
		var found bool
		_, address, found = strings.Cut(line, before)
		return found
	})
	return address
}

// awaitPage asks for a page of a console until it has a text. On a busy machine a part of a page may run out of time.
func awaitPage(t *testing.T, page, text string) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		response, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is answered by %s without %q: %s", page, response.Status, text, body)
		}
	}
}

func TestTheConsoleShowsTheQueueAndRecordsWhatIsDoneUntilItIsStopped(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('letter')`)
	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "ui", "--http", "127.0.0.1:0", "--name", "letters",
		"--link", "eu=https://eu.example.com")
	console := consoleURL(t, &p.stdout, "Console: ")
	awaitPage(t, console+"jobs", "letter")
	awaitPage(t, console+"help", "<b>letters</b>")
	awaitPage(t, console+"help", `<a href="https://eu.example.com">eu</a>`)

	// The default client goes on to the page that the console sends it to: the job's, or that of an operation that takes long.
	answer, err := http.PostForm(console+"jobs/1/act?act=cancel&back=jobs/1", url.Values{"reason": {"wrong address"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/jobs/1" &&
		answer.Request.URL.Path != "/operations" {
		t.Errorf("the action leads to %s: %s", answer.Request.URL, answer.Status)
	}
	pgtest.Await(t, pool, `
		select exists (select from graphile_worker.list_audit()
		                where (act, jobs, subject) = ('cancel', 1, 'wrong address') and actor like '%_@_%')`)

	// An open page does not keep the console from ending.
	stream, err := http.Get(console + "live/jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if !bufio.NewScanner(stream.Body).Scan() {
		t.Error("the stream of a page says nothing")
	}
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestAConsoleThatIsReadOnlyDoesNothing(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pgtest.Exec(t, pgtest.Pool(t, databaseURL), `select graphile_worker.add_job('letter')`)
	p := start(t, map[string]string{"DATABASE_URL": databaseURL}, "ui", "--http", "127.0.0.1:0", "--read-only")
	console := consoleURL(t, &p.stdout, "Console: ")
	answer, err := http.PostForm(console+"jobs/1/act?act=cancel", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("an action is answered by %s", answer.Status)
	}
}

func TestTheConsoleOfOthersNeedsALoginAndADatabase(t *testing.T) {
	t.Parallel()
	p := start(t, map[string]string{"DATABASE_URL": "postgres:///none"}, "ui", "--http", ":0")
	p.wantExit(2)
	p.stderr.wait(t, "about the login", func(line string) bool { return strings.Contains(line, "--auth-file") })
	p = start(t, map[string]string{"DATABASE_URL": "postgres://127.0.0.1:1/none"}, "ui", "--http", "127.0.0.1:0")
	p.wantExit(1)
	p.stderr.wait(t, "about the database", func(line string) bool { return strings.Contains(line, "connect") })
}

func TestAWorkerServesTheConsole(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pgtest.Exec(t, pgtest.Pool(t, databaseURL), `select graphile_worker.add_job('letter')`)
	p := work(t, databaseURL, tasks(t, map[string]string{"short": "exit 0"}), "--ui=127.0.0.1:0")
	p.waitLog("serving the console")
	console := consoleURL(t, &p.stderr, `"serving the console","url":"`)
	console, _, _ = strings.Cut(console, `"`)
	awaitPage(t, console+"jobs", "letter")
	p.waitLog("worker started")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}
