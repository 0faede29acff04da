// Package nodegw runs the real Graphile Worker, the one of npm, for tests: its workers, its migrations and its calls from
// JavaScript. What it needs lies in tests/node, where `make deps` installs it. Without that tests fail; they never skip.
package nodegw

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Version is a release of Graphile Worker, by its name in tests/node/package.json.
type Version string

const (
	V16 Version = "gw16" // 0.16.6, schema revision 18
	V17 Version = "gw17" // 0.17.3, schema revision 19
	V18 Version = "gw18" // 0.18.0, schema revision 20
)

// patience is how long a program has to say or do what a test waits for. It is long because it only matters when a test
// fails.
const patience = 3 * time.Minute

// command returns a script of tests/node that has not been started, run by the Node.js that was installed beside it, in
// [Environment] and env.
func command(ctx context.Context, t testing.TB, script, argument string, env []string) *exec.Cmd {
	t.Helper()
	dir := folder(t)
	node := filepath.Join(dir, "node_modules", "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("find Node.js and Graphile Worker: %v; run `make deps`", err)
	}
	args := []string{filepath.Join(dir, script)}
	if argument != "" {
		args = append(args, argument)
	}
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Env = append(Environment(), env...)
	return cmd
}

// Environment returns the variables that the programs of this package get: the test's without those that could name
// another database or change what is logged.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "GRAPHILE_") ||
			strings.HasPrefix(variable, "DATABASE_URL=") || strings.HasPrefix(variable, "NO_LOG_SUCCESS=")
	})
}

// folder returns the path of tests/node, found from the test's working directory upwards.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("find tests/node: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "tests", "node")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("find tests/node: no go.mod above the working directory")
		}
		dir = parent
	}
}

// settings returns the settings of preset.worker that say where the queue is, and more. An empty schema is Graphile
// Worker's own default, graphile_worker.
func settings(t testing.TB, databaseURL, schema string, more map[string]any) map[string]any {
	t.Helper()
	all := map[string]any{"connectionString": readable(t, databaseURL)}
	if schema != "" {
		all["schema"] = schema
	}
	maps.Copy(all, more)
	return all
}

// readable returns a URL as Node.js reads it: libpq takes a port without a host, URL in JavaScript does not.
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

// ended is the error of a program that has ended, with what it printed on stderr.
func ended(err error, stderr string) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, errors.New(strings.TrimSpace(stderr)))
}
