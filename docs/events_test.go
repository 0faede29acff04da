package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestEveryEventIsInTheTableAndTheTableHasNoOther(t *testing.T) {
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(read(t, "events.md"), -1) {
		listed = append(listed, row[1])
	}
	types := eventTypes(t)
	if len(types) == 0 {
		t.Fatal("pkg/shim has no events")
	}
	slices.Sort(listed)
	slices.Sort(types)
	if !slices.Equal(listed, types) {
		t.Errorf("docs/events.md lists\n%q, the events of pkg/shim are\n%q", listed, types)
	}
}

// eventTypes returns the exported types of pkg/shim that are events, by their method.
func eventTypes(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "pkg/shim/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "event" {
				continue
			}
			if receiver, ok := method.Recv.List[0].Type.(*ast.Ident); ok && receiver.IsExported() {
				names = append(names, receiver.Name)
			}
		}
	}
	return names
}
