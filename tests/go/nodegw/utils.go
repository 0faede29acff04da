package nodegw

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// Call is a call of a method of Node's WorkerUtils: {"addJob", "task", payload, spec} for example. JavaScript gets the
// arguments as JSON, each runAt as a Date.
type Call []any

// Migrate installs or upgrades a schema with Graphile Worker. An empty schema is graphile_worker.
func Migrate(t testing.TB, version Version, databaseURL, schema string) {
	t.Helper()
	Utils(t, version, databaseURL, schema, Call{"migrate"})
}

// Utils makes calls one after the other and returns their results as JSON. Like every part of Graphile Worker it upgrades the schema
// first.
func Utils(t testing.TB, version Version, databaseURL, schema string, calls ...Call) []json.RawMessage {
	t.Helper()
	results, err := TryUtils(t, version, databaseURL, schema, calls...)
	if err != nil {
		t.Fatalf("call %s: %v", version, err)
	}
	return results
}

// TryUtils is [Utils] for a test that expects an error. The error contains the output of Node.js.
func TryUtils(t testing.TB, version Version, databaseURL, schema string, calls ...Call) ([]json.RawMessage, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, t, "utils.mjs", "", nil)
	cmd.Stdin = strings.NewReader(marshal(t, map[string]any{
		"version": version,
		"preset":  settings(t, databaseURL, schema, nil),
		"calls":   calls,
	}))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, ended(err, stderr.String())
	}
	var results []json.RawMessage
	if err := json.Unmarshal(stdout.Bytes(), &results); err != nil {
		t.Fatalf("read the results of %s: %v\n%s", version, err, stdout.String())
	}
	return results, nil
}

// transcript keeps the output of a program.
type transcript struct {
	mu      sync.Mutex
	content bytes.Buffer
	changed chan struct{} // holds a token after a write
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content.Write(p)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content.String()
}
