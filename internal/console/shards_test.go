package console

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// openShards serves the consoles of two shards and of one that is away. It returns a function that asks for a page.
func openShards(t *testing.T, o Options) (shards []Shard, get func(path string, change func(*http.Request)) (int, string)) {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		shards = append(shards, Shard{Name: name, Pool: pgtest.Pool(t, pgtest.Database(t))})
	}
	away, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	shards = append(shards, Shard{Name: "away", Pool: away})
	o.Address, o.Schema, o.Logger = "127.0.0.1:0", "graphile_worker", slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := ServeShards(shards, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	get = func(path string, change func(*http.Request)) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(r)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "Its result will appear here") { // a query is slow on a busy machine
			return get(path, change)
		}
		return answer.StatusCode, string(body)
	}
	return shards, get
}

func TestTheIndexShowsTheNumbersOfAllShards(t *testing.T) {
	shards, get := openShards(t, Options{})
	pgtest.Exec(t, shards[0].Pool, `select graphile_worker.add_job('one') from generate_series(1, 3)`)
	pgtest.Exec(t, shards[1].Pool, `select graphile_worker.add_job('two', run_at => now() + interval '1 day')`)
	status, page := get("", nil)
	if status != 200 {
		t.Fatalf("the index is answered by %d", status)
	}
	for _, want := range []string{
		`<a href="s/a/jobs?state=ready">3</a>`, `<a href="s/b/jobs?state=ready">0</a>`, `<a href="s/b/jobs?state=scheduled">1</a>`,
		`<a href="s/away/">away</a></th><td colspan="7"><strong>Its numbers cannot be read.</strong>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the index lacks %s:\n%s", want, page)
		}
	}
	for _, path := range []string{"s/a/static/gwui.css", "s/b/", "s/b/jobs?state=scheduled", "s/a/workers"} {
		if status, _ := get(path, nil); status != 200 {
			t.Errorf("%s is answered by %d", path, status)
		}
	}
	if status, _ := get("s/c/", nil); status != 404 {
		t.Errorf("the console of no shard is answered by %d", status)
	}
}

func TestOneCanSwitchBetweenTheConsolesOfShards(t *testing.T) {
	shards, get := openShards(t, Options{})
	pgtest.Exec(t, shards[1].Pool, `select graphile_worker.add_job('two')`)
	for path, links := range map[string][]string{
		"s/a/":       {`<a href="./../../">all</a>`, `<a href="./../a/" aria-current="true">a</a>`, `<a href="./../b/">b</a>`},
		"s/b/jobs/1": {`<a href="../../../">all</a>`, `<a href="../../a/">a</a>`, `<a href="../../b/" aria-current="true">b</a>`},
	} {
		_, page := get(path, nil)
		for _, want := range append(links, `<title>`) {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s:\n%s", path, want, page)
			}
		}
	}
	if _, page := get("s/b/jobs/1", nil); !strings.Contains(page, " · b</title>") {
		t.Errorf("the title does not name the shard:\n%.400s", page)
	}
}

func TestTheHistoryOfEachShardIsInItsConsole(t *testing.T) {
	shards, get := openShards(t, Options{})
	for _, shard := range shards[:2] {
		pgtest.Exec(t, shard.Pool, `select graphile_worker.keep_task('mail', '1 day'), graphile_worker.add_job('mail')`)
	}
	pgtest.Exec(t, shards[1].Pool, `select graphile_worker.get_job('of-b'), graphile_worker.complete_job('of-b', 1)`)
	for path, want := range map[string]string{
		"s/b/jobs/1": "The job no longer exists", "s/b/history": `<a href="./jobs/1">1</a>`, "s/a/history": "No record matches.",
		"s/a/jobs/1": `<span class="state ready">ready</span>`, "s/b/tasks": `<a href="./history?since=1h&amp;task=mail">mail</a>`,
	} {
		if status, page := get(path, nil); status != 200 || !strings.Contains(page, want) || strings.HasPrefix(path, "s/a/") && strings.Contains(page, "of-b") {
			t.Errorf("%s is answered by %d without %s:\n%s", path, status, want, page)
		}
	}
}

func TestTheIndexHasTheSameGuardsAsTheConsoles(t *testing.T) {
	_, get := openShards(t, Options{UserHeader: "X-User"})
	for _, path := range []string{"", "s/a/help"} {
		if status, _ := get(path, nil); status != 403 {
			t.Errorf("nobody gets %s, answered by %d", path, status)
		}
		if status, _ := get(path, func(r *http.Request) { r.Header.Set("X-User", "ada"); r.Host = "evil.example" }); status != 421 {
			t.Errorf("%s of another host is answered by %d", path, status)
		}
		if status, page := get(path, func(r *http.Request) { r.Header.Set("X-User", "ada") }); status != 200 || !strings.Contains(page, "<b>ada</b>") {
			t.Errorf("%s is answered to a user by %d", path, status)
		}
	}
}
