package sql_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/sql"
)

const (
	mostLines      = 100
	mostClaimLines = 80 // of functions that a claim runs
	mostArguments  = 8
)

// manyArguments are functions whose arguments are options as users give them: of a job, a limit or a search. The schema for roles
// has _gw_enqueue_task for its users, with the name of the task.
var manyArguments = []string{
	"add_job", "add_job_once", "debounce_job", "_gw_enqueue_task", "cron_schedule", "set_limit", "list_history",
	"list_jobs", "matching_job_ids", "search_jobs",
}

// A function is the part of a file that creates one.
type function struct {
	file, name string
	arguments  []string
	lines      int // without comments and empty lines
}

var (
	creation = regexp.MustCompile(`^create or replace (?:function|procedure) \{\{\.schema\}\}\.(\w+)\(`)
	quote    = regexp.MustCompile(`^as (\$\w*\$)`)
)

// functions returns the functions of a file.
func functions(file, text string) (all []function) {
	var end, arguments string
	var inArguments bool
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := creation.FindStringSubmatch(line); m != nil {
			all = append(all, function{file: file, name: m[1]})
			end, inArguments, arguments = "none", true, ""
			line = line[len(m[0]):]
		}
		if end == "" {
			continue
		}
		f := &all[len(all)-1]
		word := strings.TrimSpace(line)
		if word == "" && f.lines > 0 || strings.HasPrefix(word, "--") {
			continue
		}
		f.lines++
		if inArguments {
			code, _, _ := strings.Cut(word, " -- ")
			arguments += " " + code
			if strings.HasSuffix(code, ")") {
				inArguments = false
				f.arguments = names(strings.TrimSuffix(arguments, ")"))
			}
		}
		if m := quote.FindStringSubmatch(line); m != nil {
			end = m[1] + ";"
		} else if line == end {
			end = ""
		}
	}
	return all
}

// names returns the names of the arguments in a list of them, without results.
func names(arguments string) (all []string) {
	for argument := range strings.SplitSeq(arguments, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(argument), " ")
		if name != "" && name != "out" {
			all = append(all, name)
		}
	}
	return all
}

// everyFunction returns the functions of all files.
func everyFunction(t *testing.T) (all []function) {
	t.Helper()
	err := fs.WalkDir(sql.FS, "functions", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sql.FS, path)
		all = append(all, functions(path, string(text))...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 200 {
		t.Fatalf("only %d functions were found", len(all))
	}
	return all
}

// A function that is longer is split where it reads better in parts.
func TestNoFunctionIsLong(t *testing.T) {
	for _, f := range everyFunction(t) {
		most := mostLines
		if strings.HasPrefix(f.file, "functions/claim/") || strings.HasPrefix(f.file, "functions/lanes/") {
			most = mostClaimLines
		}
		if f.name == "get_job_batch" { // the plain claim is one statement, and part of the function
			most = mostLines
		}
		if f.lines > most {
			t.Errorf("%s: %s has %d lines of code, %d more than allowed", f.file, f.name, f.lines, f.lines-most)
		}
	}
}

func TestNoFunctionHasManyArguments(t *testing.T) {
	found := map[string]bool{}
	for _, f := range everyFunction(t) {
		if len(f.arguments) <= mostArguments {
			continue
		}
		found[f.name] = true
		if !slices.Contains(manyArguments, f.name) {
			t.Errorf("%s: %s has %d arguments, at most %d are allowed: %s", f.file, f.name, len(f.arguments),
				mostArguments,
				strings.Join(f.arguments, ", "))
		}
	}
	for _, name := range manyArguments {
		if !found[name] {
			t.Errorf("%s has no more than %d arguments, so it is no exception", name, mostArguments)
		}
	}
}

func TestCommentsAndEmptyLinesOfAFunctionAreNotCounted(t *testing.T) {
	got := functions("file", `-- A comment.
create or replace function {{.schema}}.first(
  a integer, -- why

  out b integer
)
  returns integer
as $body$
  -- a comment
  select $$
$$;

$body$;

comment on function {{.schema}}.first(integer) is 'x';

create or replace function {{.schema}}.second()
as $$
  select 1
$$;

create or replace function {{.schema}}.third(a integer, b timestamptz default now(), out c integer)
  returns integer language sql
as $$
  select 1
$$;

create or replace function {{.schema}}.fourth(
  a integer, b integer,
  out c integer, d integer)
as $$
$$;
`)
	if len(got) != 4 || got[0].name != "first" || got[0].lines != 9 || !slices.Equal(got[0].arguments, []string{"a"}) ||
		got[1].name != "second" || got[1].lines != 4 || got[1].arguments != nil ||
		got[2].lines != 5 || !slices.Equal(got[2].arguments, []string{"a", "b"}) ||
		got[3].lines != 5 || !slices.Equal(got[3].arguments, []string{"a", "b", "d"}) {
		t.Errorf("got %+v", got)
	}
}
