package docs_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shimDoc returns pkg/shim as go doc shows it.
func shimDoc(t *testing.T) *doc.Package {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "pkg/shim/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	shown, err := doc.NewFromFiles(set, files, "github.com/gwsql/gw/pkg/shim")
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

func TestEveryExportedNameOfTheShimIsDocumented(t *testing.T) {
	pkg := shimDoc(t)
	check := func(name, comment string) {
		if last := name[strings.LastIndexByte(name, '.')+1:]; last == "Error" || last == "Unwrap" {
			return // what they are is said by package errors
		}
		if comment == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	funcs := pkg.Funcs
	for _, typ := range pkg.Types {
		check(typ.Name, typ.Doc)
		funcs = append(funcs, typ.Funcs...)
		for _, method := range typ.Methods {
			check(typ.Name+"."+method.Name, method.Doc)
		}
		for _, value := range append(typ.Consts, typ.Vars...) {
			checkValue(value, check)
		}
	}
	for _, fn := range funcs {
		check(fn.Name, fn.Doc)
	}
	for _, value := range append(pkg.Consts, pkg.Vars...) {
		checkValue(value, check)
	}
}

// checkValue looks at each name of a group, whose comment may be of the group or its own.
func checkValue(value *doc.Value, check func(name, comment string)) {
	for _, spec := range value.Decl.Specs {
		spec := spec.(*ast.ValueSpec)
		for _, name := range spec.Names {
			if name.IsExported() {
				check(name.Name, value.Doc+spec.Doc.Text())
			}
		}
	}
}

func TestEveryErrorOfTheShimIsOnThePageForGoPrograms(t *testing.T) {
	pkg := shimDoc(t)
	isError := regexp.MustCompile(`^(Err[A-Z]\w*|\w+Error)$`)
	var names []string
	for _, typ := range pkg.Types {
		names = append(names, typ.Name)
	}
	for _, value := range pkg.Vars {
		names = append(names, value.Names...)
	}
	found := 0
	page := read(t, "go.md")
	for _, name := range names {
		if !isError.MatchString(name) {
			continue
		}
		found++
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/go.md does not mention `%s`", name)
		}
	}
	if found < 10 {
		t.Errorf("pkg/shim has %d errors, fewer than it had", found)
	}
}
