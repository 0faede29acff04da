// Package nodejs runs Node's Graphile Worker, as `make deps` installs it in tests/node.
package nodejs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/server"
)

const (
	// Template is the database in which Node has installed its schema.
	Template = "template_node"

	// Package is the release that is measured, by its name in tests/node/package.json.
	Package = "gw18"

	// Version is the version that this release reports.
	Version = "0.18.0"
)

// Install creates the template of Node's databases.
func Install(ctx context.Context, s *server.Server) error {
	if _, err := s.Exec(ctx, "create database "+Template); err != nil {
		return err
	}
	input, err := json.Marshal(map[string]any{
		"version": Package,
		"preset":  map[string]any{"connectionString": Readable(s.URL(Template))},
		"calls":   [][]any{{"migrate"}},
	})
	if err != nil {
		return fmt.Errorf("install Node's: %w", err)
	}
	dir, err := Folder()
	if err != nil {
		return err
	}
	cmd, err := Command(ctx, filepath.Join(dir, "utils.mjs"))
	if err != nil {
		return err
	}
	cmd.Stdin = bytes.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install Node's: %w\n%s", err, output)
	}
	return queue.AddTasks(ctx, s, Template)
}

// Folder returns the path of tests/node, which it searches in the working directory and its parents.
func Folder() (string, error) {
	dir, err := filepath.Abs(".")
	for err == nil {
		folder := filepath.Join(dir, "tests", "node")
		if _, err := os.Stat(filepath.Join(folder, "utils.mjs")); err == nil {
			return folder, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("no folder above this one has tests/node")
		}
		dir = filepath.Dir(dir)
	}
	return "", fmt.Errorf("find Node.js and Graphile Worker: %w", err)
}

// Command returns a command that runs a script with its arguments in the Node.js of tests/node.
func Command(ctx context.Context, script string, args ...string) (*exec.Cmd, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "node_modules", "node", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("find Node.js and Graphile Worker: %w; run `make deps`, or leave them out with -node=false", err)
	}
	return exec.CommandContext(ctx, program, append([]string{script}, args...)...), nil
}

// Readable returns a URL that Node.js can parse: libpq accepts a port without a host, URL in JavaScript does not.
func Readable(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil || u.Hostname() != "" || u.Port() == "" {
		return databaseURL
	}
	parameters := u.Query()
	parameters.Set("port", u.Port())
	u.Host, u.RawQuery = "", parameters.Encode()
	return u.String()
}
