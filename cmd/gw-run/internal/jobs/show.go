package jobs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const showHelp = `Prints all values of jobs, including their payloads and last errors, their progress, the names of their saved steps,
and the attempts of those whose tasks are kept (see gw-run history).

With --json a job is one object per line, with the column names of show_jobs(). The exit code is 1 if one of the jobs
does not exist: completed jobs no longer exist.`

const showExamples = `  gw-run show 17
  gw-run show --key user:42
  gw-run show --json 17 | jq .payload`

func newShowCommand(env cli.Env) *cobra.Command {
	return newChoiceCommand(env, &cobra.Command{
		Use: "show ID...", Short: "Show all values of jobs, with payload and last error", Long: showHelp, Example: showExamples,
	}, "show jobs", `select s.* from S.show_jobs(IDS) as s order by s.id`, func(j job) int64 { return j.ID }, show)
}

// show prints the jobs.
func show(ctx context.Context, db *cli.Session, jobs []job, now time.Time, out io.Writer) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		var b bytes.Buffer
		describeJob(&b, j, now)
		asked := describeAttempts(ctx, db, j.ID, &b)
		if _, err := b.WriteTo(out); err != nil {
			return err
		}
		if asked != nil {
			return asked
		}
	}
	return nil
}

// describeJob prints a job as text, one value per line.
func describeJob(b *bytes.Buffer, j job, now time.Time) {
	say := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "%-13s %s\n", label, terminal.Printable(text))
		}
	}
	held := ""
	if !j.LockedAt.IsNull() {
		held = "by " + j.LockedBy + " since " + cli.At(j.LockedAt, now)
	}
	say("id", fmt.Sprint(j.ID))
	say("state", j.State)
	say("task", j.Task)
	say("queue", j.Queue)
	say("key", j.Key)
	say("priority", fmt.Sprint(j.Priority))
	say("flags", j.FlagNames())
	say("run at", cli.At(j.RunAt, now))
	say("attempts", j.Tried())
	say("held", held)
	if done := j.Done(); done != "" {
		say("progress", done+", "+cli.At(j.ProgressAt, now))
	}
	say("steps", strings.Join(j.Steps, ", "))
	say("added", cli.At(j.CreatedAt, now))
	say("changed", cli.At(j.UpdatedAt, now))
	say("revision", fmt.Sprint(j.Revision))
	section(b, "last error", j.LastError)
	section(b, "payload", inspect.Indent(string(j.Payload)))
}

// describeAttempts prints the recorded attempts of a job, if there are any.
func describeAttempts(ctx context.Context, db *cli.Session, id int64, b *bytes.Buffer) error {
	attempts, found, err := cli.Rows[inspect.Attempt](db.Ask(ctx, `
		select h.* from S.job_history($1::bigint) as h order by h.ended_at, h.attempt`, id))
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	var lines []string
	for _, a := range attempts {
		line := fmt.Sprintf("%d %s %s", a.Attempt, a.Outcome, cli.At(a.EndedAt, found.Now))
		for _, more := range [][2]string{{"after ", a.Ran()}, {"by ", a.WorkerID}, {"", a.Error}} {
			if more[1] != "" {
				line += ", " + more[0] + more[1]
			}
		}
		lines = append(lines, line)
	}
	section(b, "history", strings.Join(lines, "\n"))
	return nil
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
