package docs_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/sql"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documents")

// generated is a part of sql.md that comes from the database: its kind, what of that kind, and its text.
var generated = regexp.MustCompile(`(?s)(<!-- generated: (\w+) ?(\w*) -->\n).*?(<!-- end -->)`)

func TestTheReferenceSaysWhatTheDatabaseSays(t *testing.T) {
	conn := connect(t)
	before := read(t, "sql.md")
	after := generated.ReplaceAllStringFunc(before, func(part string) string {
		match := generated.FindStringSubmatch(part)
		return match[1] + "\n" + render(t, conn, match[2], match[3]) + "\n" + match[4]
	})
	if before == after {
		return
	}
	if !*update {
		t.Fatal("docs/sql.md is not as the database has it; rewrite it by: go test ./docs -update")
	}
	if err := os.WriteFile("sql.md", []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryPublicFunctionIsInTheReference(t *testing.T) {
	reference := strings.Join(generated.FindAllString(read(t, "sql.md"), -1), "")
	for _, name := range queryLines(t, connect(t), `
		select p.proname::text
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace
		   and p.proname not like '\_%'`) {
		if !strings.Contains(reference, "\n### "+name+"\n") {
			t.Errorf("docs/sql.md lacks %s: is its folder of sql/functions among the generated parts?", name)
		}
	}
}

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "set search_path = graphile_worker"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func render(t *testing.T, conn *pgx.Conn, kind, name string) string {
	t.Helper()
	switch kind {
	case "functions":
		var parts []string
		for _, function := range publicFunctions(t, name) {
			parts = append(parts, renderFunction(t, conn, function))
		}
		return strings.Join(parts, "\n")
	case "columns":
		return renderColumns(t, conn, name)
	case "settings":
		return renderSettings(t, conn)
	}
	t.Fatalf("sql.md asks for generated %q, which there is not", kind)
	return ""
}

// publicFunctions returns what a folder of sql/functions offers to callers, in the order of install.sql.
func publicFunctions(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	install := readSQL(t, "functions/install.sql")
	for _, file := range regexp.MustCompile(`template "(`+folder+`/[^"]+)"`).FindAllStringSubmatch(install, -1) {
		definitions := regexp.MustCompile(`(?m)^create or replace (?:function|procedure) \{\{\.schema\}\}\.([a-z]\w*)\(`)
		for _, definition := range definitions.FindAllStringSubmatch(readSQL(t, "functions/"+file[1]), -1) {
			names = append(names, definition[1])
		}
	}
	return names
}

func readSQL(t *testing.T, path string) string {
	t.Helper()
	content, err := fs.ReadFile(sql.FS, path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func renderFunction(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	arguments := ""
	if queryLines(t, conn, `select p.pronargs::text from pg_proc as p where p.oid = $1::regproc`, name)[0] != "0" {
		arguments = "\n" + renderArguments(t, conn, name)
	}
	result := queryLines(t, conn, `select coalesce(pg_get_function_result($1::regproc), '')`, name)[0]
	result = strings.Replace(result, "SETOF", "setof", 1)
	if list, ok := strings.CutPrefix(result, "TABLE("); ok {
		lines := strings.Split(strings.ReplaceAll(strings.TrimSuffix(list, ")"), ", ", ",\n"), "\n")
		for i, line := range lines {
			lines[i] = "  " + strings.Replace(line, " ", "\t", 1)
		}
		result = "table (\n" + columns(lines) + ")"
	}
	comment := queryLines(t, conn, `select obj_description($1::regproc, 'pg_proc')`, name)[0]
	if result != "" {
		result = "returns " + result + "\n"
	}
	return fmt.Sprintf("### %s\n\n```text\n%s(%s)\n%s```\n\n%s\n", name, name, arguments, result, comment)
}

func renderArguments(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	return columns(queryLines(t, conn, `
		select '  ' || a.name || e'\t' || format_type(a.type, null)
		       || case when d.text is null then '' else e'\tdefault ' || d.text end
		       || case when a.number < p.pronargs then ',' else '' end
		  from pg_proc as p
		 cross join unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as a (name, type, number)
		 cross join replace(pg_get_function_arg_default(p.oid, a.number::integer), 'NULL', 'null') as l (text)
		 cross join regexp_replace(l.text, '::[a-z ]+(\[\])?$', '') as d (text)
		 where p.oid = $1::regproc and a.number <= p.pronargs
		 order by a.number`, name))
}

func renderColumns(t *testing.T, conn *pgx.Conn, relation string) string {
	t.Helper()
	return "```text\n" + columns(queryLines(t, conn, `
		select concat_ws(e'\t', a.attname, format_type(a.atttypid, a.atttypmod), '-- ' || col_description(a.attrelid, a.attnum))
		  from pg_attribute as a
		 where a.attrelid = $1::regclass and a.attnum > 0
		 order by a.attnum`, relation)) + "```\n"
}

func renderSettings(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return "| setting | default | values | what it is |\n|---|---|---|---|\n" +
		strings.Join(queryLines(t, conn, `
			select format('| `+"`%s`"+` | %s | %s | %s |', s.name, s.default_value,
			              coalesce(array_to_string(s.words, ', '), s.least_value || ' to ' || s.greatest_value), s.meaning)
			  from _gw_known_settings() as s`), "\n") + "\n"
}

// columns lays out lines with tabs as columns, and writes the one long type name as people do.
func columns(lines []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, strings.ReplaceAll(line, "timestamp with time zone", "timestamptz"))
	}
	w.Flush()
	return b.String()
}

// queryLines returns the one text column of a query's rows.
func queryLines(t *testing.T, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	if len(lines) == 0 {
		t.Fatalf("no rows: %s", query)
	}
	return lines
}
