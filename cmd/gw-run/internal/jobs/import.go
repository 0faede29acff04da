package jobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/stop"
)

const importHelp = `Adds the jobs of a file, or of stdin: one JSON object per line, as gw-run export prints them. All are added, or none.

The command reads task_identifier, payload, queue_name, key, priority, run_at, max_attempts and flags; all but
task_identifier are optional. It ignores the other columns of show_jobs(): the jobs get new ids and all their attempts, and
lose errors, progress, steps and context. As with gw-run add, a job that waits under the key of an imported one is replaced.`

const importExamples = `  gw-run import failed.ndjson
  echo '{"task_identifier": "send_email", "payload": {"to": "me@example.com"}}' | gw-run import`

// Jobs are added in steps of this size.
const (
	importJobs  = 1000
	importBytes = 4 << 20 // of input
)

func newImportCommand(env cli.Env) *cobra.Command {
	var d cli.Database
	cmd := &cobra.Command{
		Use: "import [FILE]", Short: "Add the jobs that gw-run export has printed", Long: importHelp, Example: importExamples,
		Args: cli.OneFile(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.Complete(env.Getenv); err != nil {
				return err
			}
			ctx, _, release := env.Stops.Begin(cmd.Context(), stop.Hangup()...)
			defer release()
			in := cmd.InOrStdin()
			if len(args) == 1 && args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("import jobs: %w", err)
				}
				defer file.Close()
				in = file
			}
			added, err := importAll(ctx, d, in)
			if err != nil {
				return stop.Explain(ctx, fmt.Errorf("import jobs, none was added: %w", err))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Imported %s.\n", cli.Plural(added, "job"))
			return err
		},
	}
	d.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

// importAll adds the jobs in one transaction and returns their number.
func importAll(ctx context.Context, d cli.Database, in io.Reader) (added int, err error) {
	db, err := d.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	tx, err := db.Conn.Begin(ctx)
	if err != nil {
		return 0, cli.Explain(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after the commit it does nothing
	for lines := (&jobLines{in: bufio.NewReader(in)}); ; {
		jobs, err := lines.next()
		if err != nil {
			return 0, cli.AsUsage(err)
		}
		if len(jobs) == 0 {
			return added, cli.Explain(tx.Commit(ctx))
		}
		if err := addImported(ctx, db, jobs); err != nil {
			return 0, err
		}
		added += len(jobs)
	}
}

// importedJob is a line of the input, with all columns of show_jobs().
type importedJob struct {
	Task        *string         `json:"task_identifier"`
	Payload     json.RawMessage `json:"payload"`
	Queue       *string         `json:"queue_name"`
	Key         *string         `json:"key"`
	Priority    *int64          `json:"priority"`
	RunAt       *string         `json:"run_at"`
	MaxAttempts *int64          `json:"max_attempts"`
	Flags       flagList        `json:"flags"`
	ignoredColumns
	line int
}

type ignoredColumns struct {
	ID        json.RawMessage `json:"id"`
	State     json.RawMessage `json:"state"`
	Attempts  json.RawMessage `json:"attempts"`
	LastError json.RawMessage `json:"last_error"`
	CreatedAt json.RawMessage `json:"created_at"`
	UpdatedAt json.RawMessage `json:"updated_at"`
	LockedAt  json.RawMessage `json:"locked_at"`
	LockedBy  json.RawMessage `json:"locked_by"`
	Revision  json.RawMessage `json:"revision"`

	Progress     json.RawMessage `json:"progress"`
	ProgressNote json.RawMessage `json:"progress_note"`
	ProgressAt   json.RawMessage `json:"progress_at"`
	Steps        json.RawMessage `json:"steps"`
}

// flagList are flags as a list, or as the keys of an object, as the table has them.
type flagList []string

func (f *flagList) UnmarshalJSON(text []byte) error {
	var byName map[string]bool
	if json.Unmarshal(text, &byName) == nil {
		*f = slices.Sorted(maps.Keys(byName))
		return nil
	}
	return json.Unmarshal(text, (*[]string)(f))
}

// jobLines reads jobs from lines.
type jobLines struct {
	in   *bufio.Reader
	line int
}

// next returns the jobs of the next step, none at the end.
func (l *jobLines) next() (jobs []importedJob, err error) {
	for read := 0; len(jobs) < importJobs && read < importBytes; {
		text, err := l.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		atEnd := err != nil
		l.line++
		read += len(text)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			job := importedJob{line: l.line}
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&job); err != nil {
				return nil, fmt.Errorf("line %d: %w", l.line, err)
			}
			if decoder.More() {
				return nil, fmt.Errorf("line %d has more than one object", l.line)
			}
			if job.Task == nil {
				return nil, fmt.Errorf("line %d has no task_identifier", l.line)
			}
			jobs = append(jobs, job)
		}
		if atEnd {
			break
		}
	}
	return jobs, nil
}

// refusedSpec matches the detail of add_jobs about the job that it refuses.
var refusedSpec = regexp.MustCompile(`spec (\d+)`)

// addImported adds jobs by one call of add_jobs.
func addImported(ctx context.Context, db *cli.Session, jobs []importedJob) error {
	specs := make([]map[string]any, len(jobs))
	for i, j := range jobs {
		specs[i] = map[string]any{
			"task": j.Task, "queue_name": j.Queue, "job_key": j.Key, "priority": j.Priority, "run_at": j.RunAt,
			"max_attempts": j.MaxAttempts, "flags": j.Flags,
		}
		if j.Payload != nil {
			specs[i]["payload"] = string(j.Payload) // as text, which arrives unchanged
		}
	}
	list, err := json.Marshal(specs)
	if err != nil {
		return err
	}
	query := db.SQL(`select pg_catalog.count(*) from S.add_jobs(` + statement.Specs(`$1::text::json`) + `)`)
	_, err = db.Conn.Exec(ctx, query, string(list))
	lines := fmt.Sprintf("lines %d to %d", jobs[0].line, jobs[len(jobs)-1].line)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		if spec := refusedSpec.FindStringSubmatch(refusal.Detail); spec != nil {
			if n, _ := strconv.Atoi(spec[1]); n >= 1 && n <= len(jobs) {
				lines = fmt.Sprintf("line %d", jobs[n-1].line)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", lines, cli.Explain(err))
	}
	return nil
}
