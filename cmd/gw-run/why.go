package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/terminal"
)

const whyHelp = `Prints why jobs do not run: each reason with what it depends on, when it ends, which jobs hold the job back, and what to
do. A job that nothing holds back is next if the next claim takes it, or behind other jobs. The reasons are those of
claims: claimed, attempts used up, replaced, future, paused, moving, full, rate, closed, queue held, behind in queue,
suspect, no worker, behind, next.

With --json a reason is one object per line, with the id of the job and the columns of why(). The exit code is 1 if one of
the jobs does not exist: completed jobs no longer exist.`

const whyExamples = `  gw-run why 17
  gw-run why --key user:42
  gw-run why --json 17 | jq -r .reason`

// whyRow is a row of why(), with the id of the job.
type whyRow struct {
	ID       int64   `json:"id"`
	Reason   string  `json:"reason"`
	Detail   string  `json:"detail"`
	Until    moment  `json:"until"`
	Blocking []int64 `json:"blocking_job_ids"`
	Remedy   string  `json:"remedy"`
}

func newWhyCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var (
		l   listing
		key string
	)
	cmd := &cobra.Command{
		Use:     "why ID...",
		Short:   "Show why jobs do not run, and what to do",
		Long:    whyHelp,
		Example: whyExamples,
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
				return why(ctx, db, ids, key, l.json, out)
			})
		},
	}
	cmd.Flags().StringVarP(&key, "key", "k", "", "the job with this `key`")
	l.addFlags(cmd, getenv)
	return cmd
}

// why prints why the jobs with these ids, or the job with this key, do not run.
func why(ctx context.Context, db *session, ids []int64, key string, asJSON bool, out io.Writer) error {
	found, err := db.ask(ctx, `
		select i.id, w.reason, w.detail, w.until, w.blocking_job_ids, w.remedy
		  from pg_catalog.unnest(case when $2::text is null then $1::bigint[]
		                              else array(select S.matching_job_ids(job_key => $2::text)) end) with ordinality as i (id, at)
		 cross join lateral S.why(i.id) with ordinality as w (reason, detail, until, blocking_job_ids, remedy, at)
		 order by i.at, w.at`, ids, orNull(key))
	if err != nil {
		return fmt.Errorf("ask why: %w", err)
	}
	reasons, err := decode[whyRow](found.rows)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(out, found)
	} else {
		_, err = io.WriteString(out, describeReasons(reasons, found.now))
	}
	if err != nil {
		return err
	}
	if key != "" && len(reasons) == 0 {
		return fmt.Errorf("there is no job with the key %q", key)
	}
	var explained []job
	for _, r := range reasons {
		explained = append(explained, job{ID: r.ID})
	}
	return missing(ids, explained)
}

// describeReasons returns the reasons as text.
func describeReasons(reasons []whyRow, now time.Time) string {
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, "%d: %s", r.ID, r.Reason)
		if !r.Until.isNull() {
			fmt.Fprintf(&b, ", until %s", at(r.Until, now))
		}
		fmt.Fprintf(&b, "\n  %s\n", terminal.Printable(strings.TrimSpace(r.Detail)))
		if len(r.Blocking) > 0 {
			fmt.Fprintf(&b, "  held back by: %s\n", idsOf(r.Blocking))
		}
		fmt.Fprintf(&b, "  -> %s\n", terminal.Printable(r.Remedy))
	}
	return b.String()
}
