package sql_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/sql"
)

// Roles with privileges of their own on the table of jobs call the functions that Graphile Worker has, too, with their own rights. So
// _gw_direct_roles names every function that these call, as far as no function with the rights of the owner is in between.
func TestDirectRolesGetEveryFunctionThatTheyCall(t *testing.T) {
	bodies := bodiesOfFunctions(t)
	text := bodies["_gw_direct_roles"]
	_, text, _ = strings.Cut(text, "p.proname in (")
	text, _, _ = strings.Cut(text, ")")
	granted := map[string]bool{}
	for _, m := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(text, -1) {
		granted[m[1]] = true
	}

	called := map[string]bool{}
	roots := []string{"add_job", "add_jobs", "remove_job", "complete_jobs", "permanently_fail_jobs", "reschedule_jobs",
		"force_unlock_workers"}
	for todo := roots; len(todo) > 0; todo = todo[1:] {
		body, isFunction := bodies[todo[0]]
		if !isFunction || called[todo[0]] {
			continue
		}
		called[todo[0]] = true
		if regexp.MustCompile(`\n  .*\bsecurity definer\b`).MatchString(body) {
			continue
		}
		for _, m := range regexp.MustCompile(`\{\{\.schema\}\}\.(\w+)\(`).FindAllStringSubmatch(body, -1) {
			todo = append(todo, m[1])
		}
	}
	for _, root := range roots {
		delete(called, root)
	}
	for name := range called {
		if !granted[name] {
			t.Errorf("%s is called, but not granted", name)
		}
	}
	for name := range granted {
		if !called[name] {
			t.Errorf("%s is granted, but not called", name)
		}
	}
}

// bodiesOfFunctions returns the statements that create the functions, without comments, by name.
func bodiesOfFunctions(t *testing.T) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	err := fs.WalkDir(sql.FS, "functions", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sql.FS, path)
		code := regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(string(text), "")
		for _, part := range strings.Split(code, "create or replace function {{.schema}}.")[1:] {
			name, _, _ := strings.Cut(part, "(")
			body, _, _ := strings.Cut(part, "\ncomment on ")
			bodies[name] = body
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}
