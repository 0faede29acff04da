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
		first := make(map[string]string)
		for _, function := range publicFunctions(t, name) {
			parts = append(parts, renderFunction(t, conn, function, first))
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

// renderFunction returns the heading of a function, its call without the types, and what it does in short. first has, for the
// columns that were shown, the function that returns them.
func renderFunction(t *testing.T, conn *pgx.Conn, name string, first map[string]string) string {
	t.Helper()
	call := fmt.Sprintf("%s(%s)", name, argumentsOf(t, conn, name))
	result := resultOf(t, conn, name)
	switch {
	case result == "" || result == "void":
	case first[result] != "":
		call += " returns rows as " + first[result]
	default:
		call += " returns " + result
		if strings.HasPrefix(result, "(") {
			first[result] = name
		}
	}
	comment := queryLines(t, conn, `select obj_description($1::regproc, 'pg_proc')`, name)[0]
	return fmt.Sprintf("### %s\n\n`%s`\n\n%s\n", name, call, shortened(comment))
}

// argumentsOf returns the names of a function's arguments, with the defaults of those that may be omitted.
func argumentsOf(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	return queryLines(t, conn, `
		select coalesce(string_agg(a.name || coalesce('=' || d.text, ''), ', ' order by a.number), '')
		  from pg_proc as p
		 cross join unnest(p.proargnames, p.proargtypes::oid[]) with ordinality as a (name, type, number)
		 cross join replace(pg_get_function_arg_default(p.oid, a.number::integer), 'NULL', 'null') as l (text)
		 cross join regexp_replace(l.text, '::[a-z ]+(\[\])?$', '') as d (text)
		 where p.oid = $1::regproc and a.number <= p.pronargs`, name)[0]
}

// resultOf returns the type of a function's result, of a table the names of its columns.
func resultOf(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	return queryLines(t, conn, `
		select coalesce('(' || string_agg(a.name, ', ' order by a.number) || ')',
		                replace(replace(pg_get_function_result(p.oid), 'SETOF', 'setof'), 'timestamp with time zone', 'timestamptz'), '')
		  from pg_proc as p
		  left join unnest(p.proargnames, p.proargmodes) with ordinality as a (name, mode, number) on a.mode = 't'
		 where p.oid = $1::regproc
		 group by p.oid`, name)[0]
}

// aside is what may be left out of the first sentence of a comment: what stands in parentheses, and what follows a colon or a
// semicolon.
var aside = regexp.MustCompile(` \([^)]*\)|[:;] .*`)

// shortened returns the first sentence of a comment without its asides.
func shortened(comment string) string {
	sentence, _, _ := strings.Cut(comment+" ", ". ")
	return aside.ReplaceAllString(strings.TrimSuffix(strings.TrimSpace(sentence), "."), "") + "."
}

func renderColumns(t *testing.T, conn *pgx.Conn, relation string) string {
	t.Helper()
	return queryLines(t, conn, `
		select '`+"`' || string_agg(a.attname, '`, `' order by a.attnum) || '`"+`.'
		  from pg_attribute as a
		 where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`, relation)[0] + "\n"
}

func renderSettings(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	lines := queryLines(t, conn, `select format('`+"`%s`"+`, %s: %s', s.name, s.default_value, s.meaning) from _gw_known_settings() as s`)
	for i, line := range lines {
		name, meaning, _ := strings.Cut(line, ": ")
		lines[i] = "- " + name + ": " + shortened(meaning)
	}
	return strings.Join(lines, "\n") + "\n"
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
