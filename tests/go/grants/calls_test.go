package grants

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The role of a worker may call every function that the code of the worker and its metrics calls, without that of the client.
func TestTheRoleOfAWorkerMayCallWhatTheWorkerCalls(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	may := pgtest.Value[[]string](t, pool, "select array_agg(c.call) from graphile_worker._gw_api_calls() as c where c.kind = 'worker'")
	missing := pgtest.Value[[]string](t, pool, `
		select coalesce(array_agg(distinct c.call), '{}')
		  from graphile_worker._gw_api_calls() as c
		 where not exists (select from pg_proc as p where p.proname = c.call and p.pronamespace = 'graphile_worker'::regnamespace)
		   and not exists (select from pg_class as v where v.relname = c.call and v.relnamespace = 'graphile_worker'::regnamespace)`)
	if len(missing) > 0 {
		t.Errorf("there is no %q", missing)
	}

	files, err := filepath.Glob("../../../pkg/shim/*.go")
	if err != nil {
		t.Fatal(err)
	}
	others := []string{
		"_gw_put_job_contexts", // called only by the client
	}
	found := 0
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "client") || strings.HasPrefix(name, "shards") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`\bS\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			found++
			if call := match[1]; !slices.Contains(others, call) && !slices.Contains(may, call) {
				t.Errorf("%s calls %s", name, call)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d calls are found", found)
	}
}
