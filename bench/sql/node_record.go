package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/gwsql/gw/bench/internal/nodejs"
	"github.com/gwsql/gw/bench/internal/queue"
)

// recordNode runs Node workers on a few jobs of a temporary database and reads their statements from the server's log.
func recordNode(ctx context.Context, b *bench) (_ nodeStatements, err error) {
	db, err := b.copyOf(ctx, node(nil))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := db.Run(ctx, "alter database "+db.Name+" set log_statement = 'all'"); err != nil {
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
	var data string
	if err := db.Admin.QueryRow(ctx, "show data_directory").Scan(&data); err != nil {
		return nil, fmt.Errorf("record Node's statements: %w", err)
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(data), "log")) // the server itself may not read it
	if err != nil {
		return nil, fmt.Errorf("record Node's statements: %w", err)
	}
	recorded := readLog(string(log))
	for _, name := range []string{"get_job", "get_jobF", fmt.Sprintf("get_job%d", recordedBatch), "complete_job",
		"complete_jobs", "complete_job_q"} {
		if recorded[name] == "" {
			return nil, fmt.Errorf("record Node's statements: its worker sends none with the name %s", name)
		}
	}
	return recorded, nil
}

// recordNodeWorker runs a worker until it has run a queued job and some plain ones. A worker that claims batches also
// reports outcomes in batches.
func recordNodeWorker(ctx context.Context, db *database, batch int, forbidden []string) error {
	err := db.Run(ctx, queue.Fill(3), "select "+queue.Schema+".add_job('"+queue.Task+"', queue_name := 'queue')")
	if err != nil {
		return err
	}
	preset := map[string]any{
		"connectionString": nodejs.Readable(db.URL()), "concurrentJobs": 4, "maxPoolSize": 4, "pollInterval": 100,
	}
	if batch > 1 {
		preset["localQueue"] = map[string]any{"size": batch}
		preset["completeJobBatchDelay"] = 20
	}
	arguments := map[string]any{"version": nodejs.Package, "preset": preset, "tasks": map[string]string{queue.Task: ""}}
	if forbidden != nil {
		arguments["forbiddenFlags"] = forbidden
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode the worker's arguments: %w", err)
	}
	dir, err := nodejs.Folder()
	if err != nil {
		return err
	}
	cmd, err := nodejs.Command(ctx, filepath.Join(dir, "worker.mjs"), string(text))
	if err != nil {
		return err
	}
	if _, err := cmd.StdinPipe(); err != nil { // the worker ends when its stdin closes
		return fmt.Errorf("start Node's worker: %w", err)
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Node's worker: %w", err)
	}
	waitErr := db.Wait(ctx, "select not exists (select from "+queue.JobsTable+")")
	stopErr := cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // the signal ends it
	if err := errors.Join(waitErr, stopErr); err != nil {
		return fmt.Errorf("%w\n%s", err, output.String())
	}
	// A claim that is still running would take the jobs of the next worker.
	return db.Wait(ctx, "select count(*) = 1 from pg_stat_activity where datname = current_database()")
}

// executed matches a log line of a named statement. Node's names consist of the function and the schema.
var executed = regexp.MustCompile(`^.* LOG:  execute (\w+)/` + queue.Schema + `: (.*)$`)

// readLog returns the named statements in a server's log. The second and later lines of a statement begin with a tab.
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
