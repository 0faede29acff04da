package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Users search logs by keys, so the documented keys must exist, and every key must be documented.
func TestTheKeysOfTheLogAreThoseOfItsTable(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "observe.md"), "\n## Logs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(section, -1) {
		for _, key := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			documented = append(documented, key[1])
		}
	}
	used := []string{"time", "level", "msg"} // log/slog's own
	for _, dir := range []string{"pkg/shim", "cmd/gw-run", "internal/connection", "internal/serve", "internal/task",
		"internal/health"} {
		used = append(used, logKeys(t, filepath.Join(root, dir))...)
	}
	for _, key := range used {
		if !slices.Contains(documented, key) {
			t.Errorf("docs/observe.md lacks the key %s", key)
		}
	}
	for _, key := range documented {
		if !slices.Contains(used, key) {
			t.Errorf("docs/observe.md has the key %s, which no log line has", key)
		}
	}
}

// logKeys returns the keys in calls of loggers, in the Go files of a folder that are not tests.
func logKeys(t *testing.T, dir string) []string {
	t.Helper()
	var keys []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				keys = append(keys, keysOf(node.Args, firstKey(node))...)
			case *ast.CompositeLit: // []any{"key", value}, to be passed on
				if array, ok := node.Type.(*ast.ArrayType); ok {
					if element, ok := array.Elt.(*ast.Ident); ok && element.Name == "any" {
						keys = append(keys, keysOf(node.Elts, 0)...)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// firstKey returns the position of the first key among the arguments of a logger's method, -1 for other calls.
func firstKey(call *ast.CallExpr) int {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	switch method.Sel.Name {
	case "With":
		return 0
	case "Debug", "Info", "Warn", "Error":
		return 1
	case "DebugContext", "InfoContext", "WarnContext", "ErrorContext":
		return 2
	}
	return -1
}

// keysOf returns the texts among the arguments from the first key on, every other one.
func keysOf(args []ast.Expr, first int) []string {
	var keys []string
	for i := first; first >= 0 && i < len(args); i += 2 {
		if literal, ok := args[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if key, err := strconv.Unquote(literal.Value); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
