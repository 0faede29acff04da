package docs_test

import (
	"cmp"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/sql"
)

func TestEveryErrorCodeIsInTheTableAndTheTableHasNoOther(t *testing.T) {
	raised := raisedCodes(t)
	documented := documentedCodes(t)
	for _, code := range slices.Sorted(maps.Keys(raised)) {
		if documented[code] == "" && documented[code[:2]+"000"] == "" {
			t.Errorf("errors.md lacks %s, which %s raises", code, raised[code])
		}
	}
	for _, code := range slices.Sorted(maps.Keys(documented)) {
		if sqlstate.IsOurs(code) && raised[code] == "" {
			t.Errorf("errors.md has %s, which nothing raises", code)
		}
	}
}

// docs/errors.md has the same class for each code as internal/sqlstate, which the commands and pkg/shim use.
func TestEveryErrorCodeHasTheClassThatIsDocumented(t *testing.T) {
	documented := documentedCodes(t)
	for _, code := range slices.Sorted(maps.Keys(documented)) {
		if class := sqlstate.ClassOf(code); class == sqlstate.Unknown || string(class) != documented[code] {
			t.Errorf("the class of %s is %q, errors.md says %q", code, class, documented[code])
		}
	}
	raised := raisedCodes(t)
	for _, code := range slices.Sorted(maps.Keys(raised)) {
		if sqlstate.ClassOf(code) == sqlstate.Unknown {
			t.Errorf("%s, which %s raises, has no class", code, raised[code])
		}
	}
}

// documentedCodes returns the SQLSTATEs in the tables of errors.md, each with its class.
func documentedCodes(t *testing.T) map[string]string {
	t.Helper()
	documented := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| (?:class )?`([0-9A-Z]{2,5})` \\| ([a-z ]+) \\|").FindAllStringSubmatch(read(t, "errors.md"), -1) {
		code := row[1]
		if len(code) == 2 { // a class of PostgreSQL's
			code += "000"
		}
		if documented[code] != "" {
			t.Errorf("errors.md has %s twice", code)
		}
		documented[code] = row[2]
	}
	return documented
}

// named are the codes of PostgreSQL that the queue's functions raise by their names.
var named = map[string]string{
	"duplicate_schema": "42P06", "duplicate_table": "42P07", "insufficient_privilege": "42501",
	"invalid_parameter_value": "22023",
	"name_too_long":           "42622", "undefined_object": "42704",
}

// raisedCodes returns the SQLSTATEs that the functions raise, each with a file that does.
func raisedCodes(t *testing.T) map[string]string {
	t.Helper()
	code := regexp.MustCompile(`'(GW[A-Z]{3})'|errcode = '([^']*)'`)
	raised := make(map[string]string)
	err := fs.WalkDir(sql.FS, "functions", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(sql.FS, path)
		for _, match := range code.FindAllSubmatch(content, -1) {
			raised[cmp.Or(string(match[1]), named[string(match[2])], string(match[2]))] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return raised
}
