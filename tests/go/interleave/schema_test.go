package interleave

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var pgtapFlag = flag.String("interleave.pgtap", "tests/sql/add_job",
	"the `files` and folders of pgTAP tests to run with stops")

// stopCall matches the forms of a stop.
var stopCall = regexp.MustCompile(`if interleave\.stop\('\w+:\d+'\) then end if; |elsif interleave\.stop\('\w+:\d+'\) then |_gw_stop_\d+ boolean := interleave\.stop\('\w+:\d+'\); `)

func definitions(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select p.oid::regprocedure::text, pg_get_functiondef(p.oid)
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	var name, definition string
	if _, err := pgx.ForEachRow(rows, []any{&name, &definition},
		func() error { found[name] = definition; return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

func stepped(t *testing.T, conn *pgx.Conn) map[string]stop {
	t.Helper()
	prints, err := newFootprints(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	stops, err := addStops(t.Context(), conn, prints)
	if err != nil {
		t.Fatal(err)
	}
	return stops
}

func TestTheFunctionsDifferFromThoseOfTheSchemaOnlyByTheirStops(t *testing.T) {
	pgtest.OnOneVersion(t)
	conn := connect(t, pgtest.Database(t))
	before := definitions(t, conn)
	stops := stepped(t, conn)
	after := definitions(t, conn)
	found := 0
	for name, definition := range after {
		found += len(stopCall.FindAllString(definition, -1))
		if stopCall.ReplaceAllString(definition, "") != before[name] {
			t.Errorf("%s is different without its stops, too:\n%s", name, definition)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d functions instead of %d", len(after), len(before))
	}
	if found != len(stops) || found < 200 {
		t.Errorf("the functions have %d stops, %d are known", found, len(stops))
	}
}

func TestASchemaWithStopsPassesTheTestsOfTheSchema(t *testing.T) {
	pgtest.OnOneVersion(t)
	url := pgtest.Database(t)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	stepped(t, conn)
	// These are the functions now, for doctor() and its tests.
	if _, err := conn.Exec(t.Context(), "select graphile_worker._gw_record_installed(); commit"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(context.WithoutCancel(t.Context())); err != nil { // a database that is copied must have no sessions
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "scripts/pgtap.sh", strings.Fields(*pgtapFlag)...)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
