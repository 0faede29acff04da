package jobs

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
)

const rescheduleHelp = `Changes the given values of jobs, such as the time at which they run, and no others. A failed job stays failed, unless
it has an attempt left with the new --attempts or --max-attempts. Running jobs are skipped, unless their worker has held
them for more than four hours.

A time is any text that PostgreSQL accepts, in UTC if it has no time zone: '2026-12-24 18:00+01', tomorrow.`

const rescheduleExamples = `  gw-run reschedule 17 --in 2h
  gw-run reschedule --task import --state ready --run-at '2026-12-24 02:00' --priority 10
  gw-run reschedule 17 --attempts 0 --in 0s`

func newRescheduleCommand(env cli.Env) *cobra.Command {
	var (
		runAt                           string
		in                              cli.Span
		priority, attempts, maxAttempts int
	)
	c := &change{cobra: cobra.Command{
		Use: "reschedule [ID...]", Short: "Change when and how jobs run", Long: rescheduleHelp, Example: rescheduleExamples,
	}}
	flags := c.cobra.Flags()
	flags.StringVar(&runAt, "run-at", "", "`time` to run at, not before")
	flags.Var(&in, "in", "`time` from now to run at, such as 90s or 2h")
	flags.IntVar(&priority, "priority", 0, "`number`; lower runs first")
	flags.IntVar(&attempts, "attempts", 0, "`number` of attempts used; 0 restores all attempts")
	flags.IntVar(&maxAttempts, "max-attempts", 0, "maximum `number` of attempts before a job fails permanently")
	c.prepare = func() (operate.Act, error) {
		switch {
		case runAt != "" && in != "":
			return operate.Act{}, cli.Usagef("--run-at and --in exclude each other")
		case runAt == "" && in == "" && !flags.Changed("priority") && !flags.Changed("attempts") && !flags.Changed("max-attempts"):
			return operate.Act{}, cli.Usagef("what to change? Give --run-at, --in, --priority, --attempts or --max-attempts")
		}
		return operate.Reschedule(statement.OrNull(runAt), statement.OrNull(in), cli.Given(flags, "priority", priority),
			cli.Given(flags, "attempts", attempts), cli.Given(flags, "max-attempts", maxAttempts)), nil
	}
	return c.command(env)
}
