package shim_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// inOthers are functions of which the example of another one shows the use.
var inOthers = map[string]string{
	"Typed": "Worker_SetTasks", "TypedTx": "HandleTx", "TypedManyTx": "HandleManyTx", "TypedResult": "HandleResult", "StepSQLTx": "StepTx",
}

// methods are those that a first program needs.
var methods = []string{
	"Client_Add", "Client_AddMany", "Client_With", "Client_WithSQL", "Client_Job", "Client_Remove", "Client_Wait", "Worker_Run", "Worker_RunOnce",
	"Worker_Stop", "Worker_Handle", "Worker_Client", "Worker_Subscribe", "Job_Logger",
}

func TestEachFunctionHasAnExample(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var code, tests []*ast.File
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(files, entry.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(entry.Name(), "_test.go") {
			tests = append(tests, file)
		} else {
			code = append(code, file)
		}
	}
	examples := make(map[string]*doc.Example)
	for _, example := range doc.Examples(tests...) {
		examples[example.Name] = example
	}
	functions := slices.Clone(methods)
	for _, file := range code {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				functions = append(functions, f.Name.Name)
			}
		}
	}
	for _, name := range append(functions, "") { // "" is the package's
		if other, ok := inOthers[name]; ok {
			name = other
		}
		example := examples[name]
		if example == nil {
			t.Errorf("%s has no example", name)
		} else if example.Output == "" && !example.EmptyOutput {
			t.Errorf("the example of %s has no output, so that it does not run", name)
		}
	}
}
