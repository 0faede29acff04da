package packaging

import (
	"os"
	"regexp"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestTheQueryOfTheScalerCountsDueJobs(t *testing.T) {
	text, err := os.ReadFile("kubernetes/keda.yaml")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`(?m)^\s+query: (.+)$`).FindSubmatch(text)
	if query == nil {
		t.Fatal("there is no query")
	}
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `select graphile_worker.add_job('hello') from generate_series(1, 3)`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('hello', run_at => now() + interval '1 hour')`)
	if got := pgtest.Value[int64](t, pool, string(query[1])); got != 3 {
		t.Errorf("%s: %d, want 3", query[1], got)
	}
}
