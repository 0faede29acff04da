package main

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
	"regexp"
	"strings"
	"syscall"
	"time"
)

// recordPatience is how long a Node worker has to work a few jobs.
const recordPatience = time.Minute

// installNode makes the template of Node's databases.
func installNode(ctx context.Context, s *server) error {
	if _, err := s.exec(ctx, "create database "+nodeTemplate); err != nil {
		return err
	}
	input, err := json.Marshal(map[string]any{
		"version": nodeVersion,
		"preset":  map[string]any{"connectionString": readable(s.url(nodeTemplate))},
		"calls":   [][]any{{"migrate"}},
	})
	if err != nil {
		return fmt.Errorf("install Node's: %w", err)
	}
	cmd, err := nodeCommand(ctx, "utils.mjs")
	if err != nil {
		return err
	}
	cmd.Stdin = bytes.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install Node's: %w\n%s", err, output)
	}
	return s.addTasks(ctx, nodeTemplate)
}

// recordNode lets Node workers work a few jobs of a scratch database and reads from the server's log what they send.
func recordNode(ctx context.Context, s *server) (_ nodeStatements, err error) {
	db, err := s.copyOf(ctx, node(nil))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.drop(context.WithoutCancel(ctx))) }()
	if err := db.run(ctx, "alter database "+db.name+" set log_statement = 'all'"); err != nil {
		return nil, err
	}
	for _, w := range []struct {
		batch     int
		forbidden []string
	}{{1, nil}, {1, []string{"never"}}, {recordedBatch, nil}} {
		if err := recordNodeWorker(ctx, db, w.batch, w.forbidden); err != nil {
			return nil, fmt.Errorf("record Node's statements: %w", err)
		}
	}
	var log string
	err = db.admin.QueryRow(ctx, "select pg_read_file(current_setting('data_directory') || '/../log')").Scan(&log)
	if err != nil {
		return nil, fmt.Errorf("record Node's statements: %w", err)
	}
	recorded := readLog(log)
	for _, name := range []string{"get_job", "get_jobF", fmt.Sprintf("get_job%d", recordedBatch), "complete_job",
		"complete_jobs", "complete_job_q"} {
		if recorded[name] == "" {
			return nil, fmt.Errorf("record Node's statements: its worker sends none named %s", name)
		}
	}
	return recorded, nil
}

// recordNodeWorker runs a worker until it has worked a queued job and some plain ones. One that claims a batch reports
// outcomes in batches, too.
func recordNodeWorker(ctx context.Context, db *database, batch int, forbidden []string) error {
	err := db.run(ctx, fill(3), "select "+schema+".add_job('"+task+"', queue_name := 'queue')")
	if err != nil {
		return err
	}
	preset := map[string]any{
		"connectionString": readable(db.server.url(db.name)), "concurrentJobs": 4, "maxPoolSize": 4, "pollInterval": 100,
	}
	if batch > 1 {
		preset["localQueue"] = map[string]any{"size": batch}
		preset["completeJobBatchDelay"] = 20
	}
	arguments := map[string]any{"version": nodeVersion, "preset": preset, "tasks": map[string]string{task: ""}}
	if forbidden != nil {
		arguments["forbiddenFlags"] = forbidden
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode the worker's arguments: %w", err)
	}
	cmd, err := nodeCommand(ctx, "worker.mjs", string(text))
	if err != nil {
		return err
	}
	if _, err := cmd.StdinPipe(); err != nil { // the worker ends when it closes
		return fmt.Errorf("start Node's worker: %w", err)
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Node's worker: %w", err)
	}
	waitErr := db.wait(ctx, "select not exists (select from "+jobsTable+")")
	stopErr := cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // it ends by the signal
	if err := errors.Join(waitErr, stopErr); err != nil {
		return fmt.Errorf("%w\n%s", err, output.String())
	}
	// A claim that is still on its way would take the jobs of the next worker.
	return db.wait(ctx, "select count(*) = 1 from pg_stat_activity where datname = current_database()")
}

// wait waits until a query says true.
func (db *database) wait(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	for {
		var done bool
		if err := db.admin.QueryRow(ctx, query).Scan(&done); err != nil {
			return fmt.Errorf("wait for Node's worker: %w", err)
		}
		if done {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// executed is how the log shows a statement with a name, which Node takes from the function and the schema.
var executed = regexp.MustCompile(`^.* LOG:  execute (\w+)/` + schema + `: (.*)$`)

// readLog returns the named statements of a server's log. The lines of one after the first begin with a tab.
func readLog(log string) nodeStatements {
	found := nodeStatements{}
	name := ""
	for line := range strings.Lines(log) {
		if start := executed.FindStringSubmatch(strings.TrimSuffix(line, "\n")); start != nil {
			name, found[start[1]] = start[1], start[2]
		} else if rest, more := strings.CutPrefix(line, "\t"); more && name != "" {
			found[name] += "\n" + strings.TrimSuffix(rest, "\n")
		} else {
			name = ""
		}
	}
	return found
}

// nodeCommand returns a script of tests/node, run by the Node.js installed there.
func nodeCommand(ctx context.Context, script string, args ...string) (*exec.Cmd, error) {
	dir, err := filepath.Abs(".")
	for err == nil {
		folder := filepath.Join(dir, "tests", "node")
		if _, err := os.Stat(filepath.Join(folder, script)); err == nil {
			program := filepath.Join(folder, "node_modules", "node", "bin", "node")
			if _, err := os.Stat(program); err != nil {
				return nil, fmt.Errorf("find Node.js and Graphile Worker: %w; run `make deps`, or leave them out by -node=false", err)
			}
			return exec.CommandContext(ctx, program, append([]string{filepath.Join(folder, script)}, args...)...), nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("no folder above this one has tests/node")
		}
		dir = filepath.Dir(dir)
	}
	return nil, fmt.Errorf("find Node.js and Graphile Worker: %w", err)
}

// readable returns a URL as Node.js reads it: libpq takes a port without a host, URL in JavaScript does not.
func readable(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil || u.Hostname() != "" || u.Port() == "" {
		return databaseURL
	}
	parameters := u.Query()
	parameters.Set("port", u.Port())
	u.Host, u.RawQuery = "", parameters.Encode()
	return u.String()
}
