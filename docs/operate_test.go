package docs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The commands of each of these documents are one session from top to bottom. What it says in a comment
// <!-- meanwhile: SQL --> has happened in between.
func TestTheCommandsForOperatorsPrintWhatIsShown(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, document := range []string{"operate.md", "limits.md"} {
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			runCommands(t, document)
		})
	}
}

func runCommands(t *testing.T, document string) {
	t.Helper()
	programs := filepath.Dir(pgtest.Program(t, "gw-run"))
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	env := append(os.Environ(), "DATABASE_URL="+url, "PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	steps := transcript(t, document)
	if len(steps) == 0 {
		t.Fatalf("%s shows no command", document)
	}
	for _, step := range steps {
		if step.meanwhile != "" {
			pgtest.Exec(t, pool, step.meanwhile)
			continue
		}
		// A busy machine takes longer than the healthcheck waits by default.
		command := strings.Replace(step.command, "gw-run healthcheck", "gw-run healthcheck --timeout 1m", 1)
		shell := exec.CommandContext(t.Context(), "sh", "-c", command)
		shell.Env = env
		output, err := shell.CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			output = append(output, fmt.Sprintf("[exit code %d]\n", exit.ExitCode())...)
		} else if err != nil {
			t.Fatal(err)
		}
		if got, want := timeless(string(output)), timeless(step.output); got != want {
			t.Errorf("%s:%d: %s prints\n%s, but shown is\n%s", document, step.line, step.command, output, step.output)
		}
	}
}

// step is a command and what it prints, or what happens in between.
type step struct {
	line            int
	command, output string
	meanwhile       string
}

var meanwhile = regexp.MustCompile(`(?m)^<!-- meanwhile: (.*) -->$`)

// transcript returns the commands of a document's console blocks, and what happens meanwhile.
func transcript(t *testing.T, path string) (steps []step) {
	t.Helper()
	inConsole := false
	for i, line := range strings.Split(read(t, path), "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inConsole = line == "```console"
		case inConsole && isCommand:
			steps = append(steps, step{line: i + 1, command: command})
		case inConsole:
			steps[len(steps)-1].output += line + "\n"
		case meanwhile.MatchString(line):
			steps = append(steps, step{line: i + 1, meanwhile: meanwhile.FindStringSubmatch(line)[1]})
		}
	}
	return steps
}

var (
	relative = regexp.MustCompile(`\b(in )?\d+ [smhd]( ago)?\b|\bnow\b|\b\d+[ms](\d+s)?\b`)
	absolute = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`)
	version  = regexp.MustCompile(`version \d+`)
	spaces   = regexp.MustCompile(` +`)
)

// timeless returns an output with the times and the widths of columns made the same.
func timeless(output string) string {
	output = relative.ReplaceAllString(output, "TIME")
	output = absolute.ReplaceAllString(output, "TIME")
	output = version.ReplaceAllString(output, "version N")
	return spaces.ReplaceAllString(output, " ")
}
