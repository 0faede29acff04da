// Package nodegw runs the real Graphile Worker from npm for tests: its workers, its migrations and its calls from JavaScript. `make
// deps` installs it in tests/node. Without it tests fail; they are never skipped.
package nodegw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// Version is a release of Graphile Worker, by its name in tests/node/package.json.
type Version string

const (
	V16 Version = "gw16" // 0.16.6, schema revision 18
	V17 Version = "gw17" // 0.17.3, schema revision 19
	V18 Version = "gw18" // 0.18.0, schema revision 20
)

// patience is the maximum time that a test waits for a program. It is long because it only matters when a test fails.
const patience = 3 * time.Minute

// Main is [pgtest.Main] for packages whose tests all need Graphile Worker: without it, it prints what to do and exits with 1.
func Main(m *testing.M) {
	if _, _, err := installed(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pgtest.Main(m)
}

// Node returns the path of the Node.js that `make deps` installs.
func Node(t testing.TB) string {
	t.Helper()
	_, node, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// installed returns the path of tests/node and that of its Node.js.
func installed() (dir, node string, err error) {
	dir, err = folder()
	if err == nil {
		node = filepath.Join(dir, "node_modules", "node", "bin", "node")
		_, err = os.Stat(node)
	}
	if err != nil {
		return "", "", fmt.Errorf("find Node.js and Graphile Worker: %w; run `make deps`", err)
	}
	return dir, node, nil
}

// folder returns the path of tests/node, which it searches in the working directory and its parents.
func folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "tests", "node"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

// command returns a script of tests/node that has not been started, run by the Node.js that was installed beside it, in
// [Environment] and env.
func command(ctx context.Context, t testing.TB, script, argument string, env []string) *exec.Cmd {
	t.Helper()
	dir, node, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{filepath.Join(dir, script)}
	if argument != "" {
		args = append(args, argument)
	}
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = append(Environment(), env...)
	return cmd
}

// Environment returns the environment of the programs of this package: the test's environment without variables that could give
// another database or change the log.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "GRAPHILE_") ||
			strings.HasPrefix(variable, "DATABASE_URL=") || strings.HasPrefix(variable, "NO_LOG_SUCCESS=")
	})
}

// settings returns the settings of preset.worker for the queue, with those in more. An empty schema is Graphile Worker's default,
// graphile_worker.
func settings(t testing.TB, databaseURL, schema string, more map[string]any) map[string]any {
	t.Helper()
	all := map[string]any{"connectionString": readable(t, databaseURL)}
	if schema != "" {
		all["schema"] = schema
	}
	maps.Copy(all, more)
	return all
}

// readable returns a URL that Node.js can parse: libpq accepts a port without a host, URL in JavaScript does not.
func readable(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatalf("read the database's URL: %v", err)
	}
	if u.Hostname() == "" && u.Port() != "" {
		parameters := u.Query()
		parameters.Set("port", u.Port())
		u.Host, u.RawQuery = "", parameters.Encode()
	}
	return u.String()
}

func marshal(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encode the arguments of a script: %v", err)
	}
	return string(text)
}

// ended returns the error of a program that has ended, with its stderr.
func ended(err error, stderr string) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, errors.New(strings.TrimSpace(stderr)))
}
