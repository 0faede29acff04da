package jobs

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
)

const retryHelp = `Makes jobs due now: failed jobs, with all their attempts restored, and jobs that wait for a later time or for their next
attempt. Running jobs are skipped. So are failed jobs that were replaced by their key, or removed, while they ran: a
replacement is a job of its own.

With --rate the jobs become due one after the other, lowest id first, that many in each --per. After an outage, for
example, a service does not receive all failed jobs at once.`

const retryExamples = `  gw-run retry 17 18
  gw-run retry --task send_email --state failed --newer-than 1d --yes
  gw-run retry --task send_email --state failed --rate 100 --per 1m`

func newRetryCommand(env cli.Env) *cobra.Command {
	var (
		rate int
		per  = cli.Span("1s")
	)
	c := &change{cobra: cobra.Command{
		Use: "retry [ID...]", Short: "Make jobs due now, with their attempts restored", Long: retryHelp, Example: retryExamples,
	}}
	flags := c.cobra.Flags()
	flags.IntVar(&rate, "rate", 0, "`number` of jobs that become due per time, see --per (default all at once)")
	flags.Var(&per, "per", "the `time` of --rate, such as 1s, 1m or 1d")
	c.prepare = func() (operate.Act, error) {
		switch {
		case !flags.Changed("rate") && flags.Changed("per"):
			return operate.Act{}, cli.Usagef("--per requires --rate")
		case !flags.Changed("rate"):
			return operate.Retry(), nil
		case rate < 1:
			return operate.Act{}, cli.Usagef("--rate must be at least 1, not %d", rate)
		}
		return operate.RetryApart(string(per), int64(rate)), nil
	}
	return c.command(env)
}
