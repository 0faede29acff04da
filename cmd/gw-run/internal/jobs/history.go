package jobs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

const historyHelp = `Prints recorded attempts and ends of jobs: of the jobs in the arguments, oldest first, or those that match the flags,
latest first. Only jobs of tasks that are kept are recorded: see keep in the config file, or the SQL function keep_task.
The history of a job stays after the job has gone.

OUTCOME is completed, failed (another attempt follows), permanently_failed, snoozed, returned (the attempt does not count),
recovered (the worker died), canceled, replaced (by its key while it ran) or removed.

With --json a row is one object per line, with the column names of job_history() or list_history(); only those of jobs
in the arguments have payloads and results.`

const historyExamples = `  gw-run history 17
  gw-run history --task send_email --failures --since 24h
  gw-run history --key user:42
  gw-run history 17 --json | jq .result`

var historyColumns = []terminal.Column[inspect.Attempt]{
	{Title: "JOB", Numbers: true, Cell: func(r inspect.Attempt, _ time.Time) string { return fmt.Sprint(r.JobID) }},
	{Title: "TASK", Cell: func(r inspect.Attempt, _ time.Time) string { return r.Task }},
	{Title: "ATTEMPT", Numbers: true, Cell: func(r inspect.Attempt, _ time.Time) string { return r.Tried() }},
	{Title: "OUTCOME", Cell: func(r inspect.Attempt, _ time.Time) string { return r.Outcome }},
	{Title: "ENDED", Cell: func(r inspect.Attempt, now time.Time) string { return cli.Ago(r.EndedAt, now) }},
	{Title: "RAN", Cell: func(r inspect.Attempt, _ time.Time) string { return r.Ran() }},
	{Title: "WORKER", Cell: func(r inspect.Attempt, _ time.Time) string { return r.WorkerID }},
	{Title: "QUEUE", Cell: func(r inspect.Attempt, _ time.Time) string { return r.Place }},
	{Title: "ERROR", Cell: func(r inspect.Attempt, _ time.Time) string { return r.Error }},
}

// historyFilter selects rows of list_history().
type historyFilter struct {
	task, outcome, worker, key, after string
	failures                          bool
	since                             time.Duration
}

func newHistoryCommand(env cli.Env) *cobra.Command {
	var (
		p cli.Pages
		f historyFilter
	)
	cmd := &cobra.Command{
		Use: "history [ID...]", Short: "Show attempts and ends of jobs, also of those that have gone", Long: historyHelp, Example: historyExamples,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if len(ids) > 0 && f != (historyFilter{}) {
				return cli.Usagef("give either ids of jobs or conditions")
			}
			if f.since < 0 {
				return cli.Usagef("--since is %s, must not be negative", f.since)
			}
			return p.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, errOut io.Writer) error {
				if len(ids) > 0 {
					return jobHistories(ctx, db, ids, p.JSON, out)
				}
				return listHistory(ctx, db, p, f, out, errOut)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.task, "task", "", "only jobs of this `task`")
	flags.StringVar(&f.key, "key", "", "only jobs under this `key`")
	flags.StringVar(&f.outcome, "outcome", "", "only this `outcome`")
	flags.BoolVar(&f.failures, "failures", false, "only failed, permanently_failed and recovered attempts")
	flags.StringVar(&f.worker, "worker", "", "only of the `worker` with this id")
	flags.DurationVar(&f.since, "since", 0, "only what ended within this `time` before now, such as 24h (default: all that is kept)")
	p.AddLimit(cmd)
	flags.StringVar(&f.after, "after", "", "only rows after this `position`, as the end of a page prints it")
	p.AddFlags(cmd, env.Getenv)
	return cmd
}

// jobHistories prints the histories of jobs.
func jobHistories(ctx context.Context, db *cli.Session, ids []int64, asJSON bool, out io.Writer) error {
	found, err := db.Ask(ctx, `
		select u.id as job_id, h.*
		  from pg_catalog.unnest($1::bigint[]) with ordinality as u (id, place)
		 cross join lateral S.job_history(u.id) as h
		 order by u.place, h.ended_at, h.attempt`, ids)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	return cli.PrintList(out, found, asJSON, historyColumns)
}

func listHistory(ctx context.Context, db *cli.Session, p cli.Pages, f historyFilter, out, errOut io.Writer) error {
	var beforeAt, beforeID any
	if f.after != "" {
		at, id, ok := strings.Cut(f.after, "/")
		if !ok {
			return cli.Usagef("--after takes a position as the end of a page prints it")
		}
		beforeAt, beforeID = at, id
	}
	var within any
	if f.since > 0 {
		within = f.since.Seconds()
	}
	found, err := db.Ask(ctx, `
		select h.*
		  from S.list_history($1::text, $2::text, $3::text, $4::text, $5::boolean,
		         pg_catalog.now() operator(pg_catalog.-) ($6::double precision operator(pg_catalog.*) interval '1 second'), null,
		         $7::text::timestamptz, $8::text::bigint, $9::integer) as h`,
		statement.OrNull(f.task), statement.OrNull(f.outcome), statement.OrNull(f.worker), statement.OrNull(f.key), f.failures, within,
		beforeAt, beforeID, p.Limit+1)
	if err != nil {
		return fmt.Errorf("list the history: %w", err)
	}
	position := func(last inspect.Attempt) string {
		return last.EndedAt.UTC().Format(time.RFC3339Nano) + "/" + fmt.Sprint(last.JobID)
	}
	return cli.PrintPage(p, found, historyColumns, position, out, errOut)
}
