package values

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// formsOf returns arrays with the elements of a list of two, as SQL, which differ in their dimensions and lower bounds only.
func formsOf(first, second, kind string) []string {
	const plain = "array[%s, %s]::%s"
	forms := []string{
		fmt.Sprintf(plain, first, second, kind),
		fmt.Sprintf("array[array[%s], array[%s]]::%s", first, second, kind),
		fmt.Sprintf("array[array[%s, %s]]::%s", first, second, kind),
		fmt.Sprintf("array[array[array[%s], array[%s]]]::%s", first, second, kind),
	}
	if kind == "text[]" || kind == "bigint[]" {
		unquote := strings.NewReplacer("'", "")
		forms = append(forms, fmt.Sprintf("'[5:6]={%s,%s}'::%s", unquote.Replace(first), unquote.Replace(second), kind),
			fmt.Sprintf("'[-1:0]={%s,%s}'::%s", unquote.Replace(first), unquote.Replace(second), kind))
	}
	return forms
}

// elements are two elements of arguments that are arrays.
func elements(f function, a argument) (first, second string, found bool) {
	switch {
	case a.Type == "text[]" && strings.Contains(a.Name, "worker"):
		return "'a worker'", "'another'", true
	case f.Name == "cleanup" && a.Name == "tasks":
		return "'GC_JOB_QUEUES'", "'GC_TASK_IDENTIFIERS'", true
	case a.Type == "text[]":
		return "'a'", "'b'", true
	case a.Type == "bigint[]":
		return "1", "2", true
	case strings.HasSuffix(a.Type, "job_spec[]"):
		return "row('a', '[1]', null, null, null, null, null, '{x}')",
			"row('b', '[2]', 'q', null, null, 'k', null, null)", true
	}
	return "", "", false
}

// Functions that set all sequences to where they were, and that print the rows of all tables but the samples, which have the counters of
// the server's statistics.
const sequencesAndTables = `
	create table public.positions as
	select s.schemaname, s.sequencename, coalesce(s.last_value, s.start_value) as position from pg_sequences as s;
	create function public.rewind() returns void language sql as $$
	  select setval(format('%I.%I', p.schemaname, p.sequencename)::regclass, p.position) from public.positions as p;
	$$;
	create function public.tables() returns text language plpgsql as $$
	declare
	  tables text := '';
	  name   regclass;
	  rows   text;
	begin
	  for name in select c.oid from pg_class as c
	               where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relname <> '_gw_samples'
	               order by c.relname
	  loop
	    execute format('select string_agg(t::text, e''\n'' order by t::text) from %s as t', name) into rows;
	    tables := concat_ws(e'\n', tables, name || ':', rows);
	  end loop;
	  return tables;
	end;
	$$`

var times = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T][0-9:.+Z-]+|\b1\d{15}\b|\b\d+\.\d{2,6}\b`) // also revisions of jobs, and ages in seconds

// state returns what a call returns and what it leaves in all tables, without times. The call is rolled back, sequences included.
func state(t *testing.T, pool *pgxpool.Pool, call string) string {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing is kept
	var returned, left string
	_, err = tx.Exec(t.Context(), "select public.rewind()")
	if err == nil {
		err = tx.QueryRow(t.Context(), "select coalesce(string_agg(r::text, ' '), '') from ("+call+") as r",
			pgx.QueryExecModeSimpleProtocol).Scan(&returned)
	}
	if err != nil {
		return "refused: " + err.Error()
	}
	if err := tx.QueryRow(t.Context(), "select public.tables()").Scan(&left); err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAllString(returned+"\n"+left, "TIME")
}

// linesWithout returns the lines of a text that another text lacks.
func linesWithout(text, other string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"),
		func(line string) bool { return strings.Contains(other, line) }), "\n")
}

// The elements of an array are what a function is told, not its dimensions: clients build them in many ways.
func TestTheFormOfAnArrayDoesNotMatter(t *testing.T) {
	t.Parallel()
	pool := newDatabase(t, "UTF8")
	pgtest.Exec(t, pool, setup)
	pgtest.Exec(t, pool, sequencesAndTables)
	arrays := 0
	for _, f := range functionsOf(t, pool) {
		for i, a := range f.Arguments {
			first, second, found := elements(f, a)
			if !found {
				continue
			}
			arrays++
			forms := formsOf(first, second, a.Type)
			want := state(t, pool, f.call(i, forms[0]))
			if strings.HasPrefix(want, "refused") {
				t.Errorf("%s is %s", f.call(i, forms[0]), want)
			}
			for _, form := range forms[1:] {
				if got := state(t, pool, f.call(i, form)); got != want {
					t.Errorf("%s:\n%s\nwant\n%s", f.call(i, form), linesWithout(got, want), linesWithout(want, got))
				}
			}
		}
	}
	if arrays < 20 {
		t.Errorf("only %d arguments are arrays", arrays)
	}
}
