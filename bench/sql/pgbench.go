package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/server"
)

//go:embed pgbench/*.sql
var pgbenchScripts embed.FS

// transactionsPerSecond matches the line of pgbench's report without the time of connecting.
var transactionsPerSecond = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \((?:without|excluding)`)

// pgbench is the settings of a run of pgbench.
type pgbench struct {
	script  string // by its name in the folder, without .sql
	clients int
	time    time.Duration // whole seconds; 0: a few transactions
	options string        // of the sessions, as in PGOPTIONS
	listen  bool          // let another session listen meanwhile
}

// run returns the transactions per second of all clients together.
func (p pgbench) run(ctx context.Context, db *database) (_ float64, err error) {
	known, err := queue.TaskIDs(ctx, db.Admin)
	if err != nil {
		return 0, err
	}
	script, err := p.writeScript()
	if err != nil {
		return 0, err
	}
	defer os.Remove(script)
	program, err := findPgbench()
	if err != nil {
		return 0, err
	}
	if p.listen {
		stop, listenErr := db.listen(ctx)
		if listenErr != nil {
			return 0, listenErr
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	length := "--transactions=20"
	if p.time > 0 {
		length = "--time=" + strconv.Itoa(int(p.time.Seconds()))
	}
	cmd := exec.CommandContext(ctx, program, "--no-vacuum", "--protocol=prepared", "--file="+script, length,
		"--client="+strconv.Itoa(p.clients), "--jobs="+strconv.Itoa(min(p.clients, 2)),
		"--define=task="+strconv.Itoa(int(known[0])), db.Server.URL(db.Name))
	cmd.Env = append(os.Environ(), "PGOPTIONS="+p.options)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := p.runApart(ctx, cmd, db); err != nil {
		return 0, fmt.Errorf("run pgbench: %w\n%s", err, &output)
	}
	found := transactionsPerSecond.FindSubmatch(output.Bytes())
	if found == nil {
		return 0, fmt.Errorf("run pgbench: no transactions per second in\n%s", &output)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// runApart runs the program. A single client and its session run on different cores: otherwise the system sometimes
// lets them share one, which makes a difference of a third.
func (p pgbench) runApart(ctx context.Context, cmd *exec.Cmd, db *database) (err error) {
	if p.clients > 1 {
		return cmd.Run()
	}
	release, err := db.Server.OnOneCore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := cmd.Start(); err != nil {
		return err
	}
	err = server.OnOtherCore(cmd.Process.Pid)
	return errors.Join(err, cmd.Wait())
}

// writeScript fills in the script and writes it to a file of its own.
func (p pgbench) writeScript() (string, error) {
	parsed, err := template.ParseFS(pgbenchScripts, "pgbench/"+p.script+".sql")
	if err != nil {
		return "", fmt.Errorf("read pgbench's script: %w", err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, map[string]string{"schema": queue.Schema}); err != nil {
		return "", fmt.Errorf("fill in pgbench's script: %w", err)
	}
	file, err := os.CreateTemp("", "gw-pgbench-*.sql")
	if err != nil {
		return "", fmt.Errorf("write pgbench's script: %w", err)
	}
	_, err = file.WriteString(text.String())
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", fmt.Errorf("write pgbench's script: %w", err)
	}
	return file.Name(), nil
}

// findPgbench returns the path of pgbench: the one in PATH, otherwise one of Debian's, of any version.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("find pgbench: it is not in PATH; it comes with PostgreSQL's server or its contrib package")
	}
	return found[len(found)-1], nil
}
