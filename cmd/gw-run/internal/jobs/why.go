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
	"github.com/gwsql/gw/internal/terminal"
)

const whyHelp = `Prints why jobs do not run: each reason with its details, when it ends, which jobs hold the job back, and what to do. If
nothing holds a job back, the reason is next if the next claim takes it, otherwise behind. The reasons are: claimed,
attempts used up, replaced, future, paused, full, rate, closed, held, no worker, queue held, behind in queue, suspect,
behind, next.

With --json a reason is one object per line, with the id of the job and the columns of why(). The exit code is 1 if one of
the jobs does not exist: completed jobs no longer exist.`

const whyExamples = `  gw-run why 17
  gw-run why --key user:42
  gw-run why --json 17 | jq -r .reason`

// whyRow is a row of why(), with the id of the job.
type whyRow struct {
	ID int64 `json:"id"`
	inspect.Why
}

func newWhyCommand(env cli.Env) *cobra.Command {
	return newChoiceCommand(env, &cobra.Command{
		Use: "why ID...", Short: "Show why jobs do not run, and what to do", Long: whyHelp, Example: whyExamples,
	}, "ask why", `
		select i.id, w.reason, w.detail, w.until, w.blocking_job_ids, w.remedy
		  from pg_catalog.unnest(IDS) with ordinality as i (id, at)
		 cross join lateral S.why(i.id) with ordinality as w (reason, detail, until, blocking_job_ids, remedy, at)
		 order by i.at, w.at`, func(r whyRow) int64 { return r.ID }, why)
}

// why prints the reasons.
func why(_ context.Context, _ *cli.Session, reasons []whyRow, now time.Time, out io.Writer) error {
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, "%d: %s", r.ID, r.Reason)
		if !r.Until.IsNull() {
			fmt.Fprintf(&b, ", until %s", cli.At(r.Until, now))
		}
		fmt.Fprintf(&b, "\n  %s\n", terminal.Printable(strings.TrimSpace(r.Detail)))
		if len(r.Blocking) > 0 {
			fmt.Fprintf(&b, "  held back by: %s\n", cli.IDs(r.Blocking))
		}
		fmt.Fprintf(&b, "  -> %s\n", terminal.Printable(r.Remedy))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
