package docs_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The first program of README.md and of docs/go.md is pasted into a module that has nothing but it, built and run.
func TestTheFirstProgramsCompileAndRunAsPasted(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sums := read(t, filepath.Join(root, "go.sum"))
	for _, document := range []string{filepath.Join(root, "README.md"), "go.md"} {
		t.Run(filepath.Base(document), func(t *testing.T) {
			program, module := firstProgram(t, document)
			folder := t.TempDir()
			for name, text := range map[string]string{"main.go": program, "go.mod": module, "go.sum": sums} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			inFolder(t, folder, "go", "mod", "edit", "-replace", "github.com/gwsql/gw="+here)
			inFolder(t, folder, "go", "build", "-mod=mod", "-o", "hello")
			runHello(t, filepath.Join(folder, "hello"))
		})
	}
}

// firstProgram returns the first whole program of a document, and the go.mod above or below it.
func firstProgram(t *testing.T, document string) (program, module string) {
	t.Helper()
	for _, b := range blocks(t, document) {
		switch {
		case program == "" && b.language == "go" && strings.HasPrefix(b.code, "package main\n"):
			program = b.code
		case program == "" && b.language == "go" && document == "go.md":
			t.Errorf("%s:%d: there is Go code before the first whole program", document, b.line)
		case module == "" && strings.HasPrefix(b.code, "module "):
			module = b.code
		}
	}
	if program == "" || !strings.Contains(module, "\nrequire github.com/gwsql/gw v") {
		t.Fatalf("%s: no whole program, or no go.mod that requires gw", document)
	}
	return program, module
}

func inFolder(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, output)
	}
}

// runHello runs the program until it has greeted, and stops it as Ctrl-C does.
func runHello(t *testing.T, program string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), "DATABASE_URL="+pgtest.Database(t))
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if line != "hello, Ada (attempt 1)\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}
