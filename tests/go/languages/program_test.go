package languages

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// patience is the maximum run time of a program that ends by itself, including its compilation.
	patience = 2 * time.Minute

	examples  = "../../../examples"
	nodeTests = "../../node"

	// python is the system's Python, because the driver is installed by a package of the system.
	python = "/usr/bin/python3"
	// jdbc is the path of the driver in Debian's package.
	jdbc = "/usr/share/java/postgresql.jar"
)

// A program is the file name of an example in one language.
type program string

// command returns a command that starts the program as the documentation does, in a folder of examples/, with a database.
func (p program) command(ctx context.Context, t *testing.T, folder, databaseURL string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(examples, folder, string(p))
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	var cmd *exec.Cmd
	switch filepath.Ext(file) {
	case ".go":
		cmd = exec.CommandContext(ctx, "go", "run", "-C", filepath.Dir(file),
			".") // the example may be a module of its own
	case ".java":
		cmd = exec.CommandContext(ctx, "java", "-cp", jdbc, file)
	case ".mjs":
		cmd = node(ctx, t, file)
	case ".php":
		cmd = exec.CommandContext(ctx, "php", file)
	case ".py":
		cmd = exec.CommandContext(ctx, python, "-B", file) // -B: write no bytecode to the folder
	case ".rb":
		cmd = exec.CommandContext(ctx, "ruby", file)
	case ".sql":
		cmd = exec.CommandContext(ctx, "psql", "--no-psqlrc", "--quiet", "--file", file)
	default:
		t.Fatalf("no interpreter is known for %s", file)
	}
	cmd.Env = environment(t, databaseURL)
	return cmd
}

// run runs the program to its end.
func (p program) run(t *testing.T, folder, databaseURL string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	output, err := p.command(ctx, t, folder, databaseURL).CombinedOutput()
	if err != nil {
		t.Fatalf("run %s: %v; if it or its driver is missing, run `make deps`\n%s", p, err, output)
	}
}

// node returns a command in which Node.js resolves the module's imports in tests/node, where its driver is installed.
func node(ctx context.Context, t *testing.T, file string) *exec.Cmd {
	t.Helper()
	module, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = module.Close() })
	cmd := exec.CommandContext(ctx, "node_modules/node/bin/node", "--input-type=module")
	cmd.Dir = nodeTests
	cmd.Stdin = module
	return cmd
}

// environment returns the test's environment with the variables of libpq and of the Java programs set to a database.
func environment(t *testing.T, databaseURL string) []string {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	host, port := forward(t, config)
	login := url.Values{"user": {config.User}, "password": {config.Password}}
	variables := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "NODE_")
	})
	return append(variables,
		"PGHOST="+host, "PGPORT="+strconv.Itoa(port), "PGDATABASE="+config.Database,
		"PGUSER="+config.User, "PGPASSWORD="+config.Password,
		fmt.Sprintf("JDBC_DATABASE_URL=jdbc:postgresql://%s:%d/%s?%s", host, port, config.Database, login.Encode()))
}
