// Package operate tests gw-run's commands for operators from outside, with the built program and a real PostgreSQL.
package operate

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// bench is a database with a queue, on which gw-run is run.
type bench struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool
}

func newBench(t *testing.T) bench {
	t.Helper()
	t.Parallel()
	url := pgtest.Database(t)
	return bench{t, url, pgtest.Pool(t, url)}
}

// exec runs statements in which a leading dot stands for the queue's schema.
func (b bench) exec(statements ...string) {
	b.t.Helper()
	for _, statement := range statements {
		pgtest.Exec(b.t, b.pool, inQueue(statement))
	}
}

// value returns a text.
func (b bench) value(query string) string {
	b.t.Helper()
	return pgtest.Value[string](b.t, b.pool, inQueue(query))
}

// is reports whether a query returns true.
func (b bench) is(query string) bool {
	b.t.Helper()
	return pgtest.Value[bool](b.t, b.pool, inQueue(query))
}

// inQueue adds the schema in front of functions and tables that are written with a leading dot.
func inQueue(sql string) string { return leadingDot.ReplaceAllString(sql, "${1}graphile_worker.$2") }

var leadingDot = regexp.MustCompile(`(^|[\s(,:])\.([a-z_])`)

// result is the exit code and the output of gw-run.
type result struct {
	code           int
	stdout, stderr string
}

// command prepares a gw-run on the database.
func (b bench) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), pgtest.Program(b.t, "gw-run"), args...)
	cmd.Env = append(withoutDatabase(os.Environ()), "DATABASE_URL="+b.url)
	return cmd
}

func withoutDatabase(env []string) (rest []string) {
	for _, variable := range env {
		if !strings.HasPrefix(variable, "PG") && !strings.HasPrefix(variable, "DATABASE_URL=") {
			rest = append(rest, variable)
		}
	}
	return rest
}

// run runs gw-run without a terminal.
func (b bench) run(args ...string) result { b.t.Helper(); return b.pipe("", args...) }

// pipe runs gw-run with a text on stdin.
func (b bench) pipe(stdin string, args ...string) result {
	b.t.Helper()
	var out, errOut strings.Builder
	cmd := b.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// want compares results of gw-run.
func (b bench) want(got, want result) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("exit code %d, want %d; stdout\n%s, want\n%s; stderr\n%s, want\n%s",
			got.code, want.code, got.stdout, want.stdout, got.stderr, want.stderr)
	}
}

// wantPart checks the exit code, and that the outputs contain these texts.
func (b bench) wantPart(got result, code int, stdout, stderr string) {
	b.t.Helper()
	if got.code != code || !strings.Contains(got.stdout, stdout) || !strings.Contains(got.stderr, stderr) {
		b.t.Errorf("exit code %d, want %d; stdout\n%s, want in it\n%s; stderr\n%s, want in it\n%s",
			got.code, code, got.stdout, stdout, got.stderr, stderr)
	}
}
