package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
)

const showHelp = `Prints all values of jobs, including their payloads and last errors.

With --json a job is one object per line, with the column names of show_jobs(). The exit code is 1 if one of the jobs
does not exist: completed jobs no longer exist.`

const showExamples = `  gw-run show 17
  gw-run show --key user:42
  gw-run show --json 17 | jq .payload`

func newShowCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var (
		l   listing
		key string
	)
	cmd := &cobra.Command{
		Use:     "show ID...",
		Short:   "Show all values of jobs, with payload and last error",
		Long:    showHelp,
		Example: showExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if (len(ids) == 0) == (key == "") {
				return usageError{errors.New("which job? Give ids, or a key with --key")}
			}
			return l.run(cmd, getenv, stops, func(ctx context.Context, db *session, out, _ io.Writer) error {
				return show(ctx, db, ids, key, l.json, out)
			})
		},
	}
	cmd.Flags().StringVarP(&key, "key", "k", "", "the job with this `key`")
	l.addFlags(cmd, getenv)
	return cmd
}

// show prints the jobs with these ids, or the job with this key.
func show(ctx context.Context, db *session, ids []int64, key string, asJSON bool, out io.Writer) error {
	found, err := db.ask(ctx, `
		select s.*
		  from S.show_jobs(case when $2::text is null then $1::bigint[]
		                        else array(select S.matching_job_ids(job_key => $2::text)) end) as s
		 order by s.id`, ids, orNull(key))
	if err != nil {
		return fmt.Errorf("show jobs: %w", err)
	}
	jobs, err := decode[job](found.rows)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(out, found)
	}
	for i := 0; i < len(jobs) && err == nil && !asJSON; i++ {
		if i > 0 {
			fmt.Fprintln(out)
		}
		err = describeJob(out, jobs[i], found.now)
	}
	if err != nil {
		return err
	}
	if key != "" && len(jobs) == 0 {
		return fmt.Errorf("there is no job with the key %q", key)
	}
	return missing(ids, jobs)
}

// missing returns an error if there is no job for one of the ids.
func missing(ids []int64, jobs []job) error {
	var lost []string
	for _, id := range ids {
		if !slices.ContainsFunc(jobs, func(j job) bool { return j.ID == id }) {
			lost = append(lost, fmt.Sprint(id))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("there is no job %s (any more)", strings.Join(lost, ", "))
	}
	return nil
}

// describeJob prints a job as text, one value per line.
func describeJob(out io.Writer, j job, now time.Time) error {
	var b bytes.Buffer
	say := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-13s %s\n", label, terminal.Printable(text))
		}
	}
	held := ""
	if !j.LockedAt.isNull() {
		held = "by " + j.LockedBy + " since " + at(j.LockedAt, now)
	}
	say("id", fmt.Sprint(j.ID))
	say("state", j.State)
	say("task", j.Task)
	say("queue", j.Queue)
	say("key", j.Key)
	say("priority", fmt.Sprint(j.Priority))
	say("flags", j.flags())
	say("run at", at(j.RunAt, now))
	say("attempts", j.attempts())
	say("held", held)
	say("added", at(j.CreatedAt, now))
	say("changed", at(j.UpdatedAt, now))
	say("revision", fmt.Sprint(j.Revision))
	section(&b, "last error", j.LastError)
	section(&b, "payload", indentJSON(j.Payload))
	_, err := out.Write(b.Bytes())
	return err
}

// section prints a label and an indented text of several lines.
func section(b *bytes.Buffer, label, text string) {
	if text == "" {
		return
	}
	fmt.Fprintln(b, label)
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "  %s\n", terminal.Printable(strings.TrimRight(line, "\r\n")))
	}
}

// indentJSON returns a payload with indentation, or as it is if it cannot be indented.
func indentJSON(payload json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, payload, "", "  "); err != nil {
		return string(payload)
	}
	return b.String()
}

// at formats a time in UTC and relative to now.
func at(m moment, now time.Time) string {
	if m.isNull() || m.text != "" {
		return m.text
	}
	return m.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + terminal.Relative(m.Time, now) + ")"
}
