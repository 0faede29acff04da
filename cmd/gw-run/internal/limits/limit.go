package limits

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

const limitHelp = `Limits how many jobs run at once, or start per time, in all workers together: of some tasks, as a whole or for each key,
such as a tenant. gw-run why ID prints whether a limit holds a job back. gw-run pause keeps jobs from starting at all.`

const limitExamples = `  gw-run limit set exports --task export --by payload:tenant --max-running 3
  gw-run limit set api --task call_api --rate 100 --per 1m
  gw-run limit list`

const limitSetHelp = `Creates a limit, or replaces the limit of this name: options that are not given are then unset. Later claims obey the
limit. Running jobs count if workers of gw run them.

The limit applies to the jobs of the tasks given by --task, or of all tasks. Jobs in a named queue also keep its order: if a
limit holds back the first one, the others wait behind it.

--by assigns each job to a lane, and the numbers of the limit apply to each lane: flag:NAME, the rest of a flag, so that
with flag:tenant a job with the flag tenant:42 has the lane 42; payload:FIELD, a field of the payload. Without --by all jobs
have one lane. A job without the flag or the field is not limited.

With --fair the lanes take turns: among jobs of equal priority the lane with the fewest running jobs comes first, then the
lane that has started no job for the longest time. --fair requires --by, and no number.

Workers of Graphile Worker for Node.js do not see limited jobs, unless they are in a named queue.`

const limitSetExamples = `  gw-run limit set api --task call_api --rate 100 --per 1m --burst 10
  gw-run limit set exports --task export --by payload:tenant --max-running 3 --total-running 20
  gw-run limit set imports --task import --by flag:source --max-running 2
  gw-run limit set tenants --by payload:tenant --fair`

const limitDropHelp = `Drops a limit, with the numbers of its lanes. Later claims do not obey it.`

const limitOverrideHelp = `Overrides the numbers of a limit for one of its lanes, such as a higher maximum for one customer. Without a number the
lane has the numbers of the limit again.`

const limitOverrideExamples = `  gw-run limit override exports tenant-42 --max-running 10
  gw-run limit override exports tenant-42`

const limitOpenHelp = `Opens a lane before its time that a worker has closed because a service accepted no more requests; without LANE, all
closed lanes of the limit. This does not end a pause. The exit code is 1 if none of these lanes is closed.`

const limitOpenExamples = `  gw-run limit open api
  gw-run limit open exports tenant-42`

// numbers are the flags of a limit that a lane may override.
type numbers struct {
	maxRunning, rate, burst int
	per                     cli.Span
}

func (n *numbers) addFlags(flags *pflag.FlagSet) {
	flags.IntVar(&n.maxRunning, "max-running", 0, "maximum `number` of jobs of a lane that run at once")
	flags.IntVar(&n.rate, "rate", 0, "maximum `number` of jobs of a lane that start per time, see --per")
	flags.Var(&n.per, "per", "the `time` of --rate, such as 1s, 1m or 1d")
	flags.IntVar(&n.burst, "burst", 0, "maximum `number` of jobs of a lane that start at once (default: the number of --rate)")
}

// arguments returns the values of n in the order of the functions' arguments.
func (n *numbers) arguments(flags *pflag.FlagSet) (maxRunning, rate, per, burst any) {
	return cli.Given(flags, "max-running", n.maxRunning), cli.Given(flags, "rate", n.rate), statement.OrNull(n.per), cli.Given(flags, "burst", n.burst)
}

func newLimitCommand(env cli.Env) *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use: "limit", Short: "Limit how many jobs run at once or start per time", Long: limitHelp, Example: limitExamples,
	},
		newLimitSetCommand(env), newLimitListCommand(env), newLimitLanesCommand(env),
		newLimitOverrideCommand(env), newLimitOpenCommand(env), newLimitDropCommand(env))
}

func newLimitSetCommand(env cli.Env) *cobra.Command {
	var (
		n            numbers
		tasks        []string
		by           cli.Condition
		totalRunning int
		fair         bool
		strict       cli.Span
	)
	o := &cli.Order{Cobra: cobra.Command{
		Use: "set NAME", Short: "Create or change a limit", Long: limitSetHelp, Example: limitSetExamples,
		Args: cli.Arguments(1, 1, "which limit? Give one name"),
	}}
	flags := o.Cobra.Flags()
	flags.StringArrayVarP(&tasks, "task", "t", nil, "`task` to which the limit applies; may be repeated (default: all)")
	flags.Var(&by, "by", "what assigns each job to a `lane`: flag:NAME or payload:FIELD (default: one lane)")
	n.addFlags(flags)
	flags.IntVar(&totalRunning, "total-running", 0, "maximum `number` of jobs of all lanes that run at once")
	flags.BoolVar(&fair, "fair", false, "the lanes take turns: the one with the fewest running jobs comes first")
	flags.Var(&strict, "strict", "the `time` for which a job of a worker that seems dead keeps its slots after another worker may run it, such as 1m")
	o.Call = func(ctx context.Context, db *cli.Session, args []string) (string, error) {
		maxRunning, rate, per, burst := n.arguments(flags)
		_, err := db.Act(ctx, `
			select S.set_limit($1::text, $2::text[], $3::text, $4::bigint::integer, $5::bigint::integer, $6::bigint::integer,
			                   $7::text::interval, $8::bigint::integer, $9::boolean, $10::text::interval)`,
			args[0], tasks, statement.OrNull(by), maxRunning, cli.Given(flags, "total-running", totalRunning), rate, per, burst, fair,
			statement.OrNull(strict))
		return "The limit " + terminal.Printable(args[0]) + " is set.", err
	}
	return o.Command(env)
}

func newLimitDropCommand(env cli.Env) *cobra.Command {
	o := &cli.Order{
		Cobra: cobra.Command{
			Use: "drop NAME", Short: "Drop a limit", Long: limitDropHelp, Example: "  gw-run limit drop api",
			Args: cli.Arguments(1, 1, "which limit? Give one name, as gw-run limit list shows it"),
		},
		Call: func(ctx context.Context, db *cli.Session, args []string) (string, error) {
			_, err := db.Act(ctx, `select S.drop_limit($1::text)`, args[0])
			return "The limit " + terminal.Printable(args[0]) + " is dropped.", err
		},
	}
	return o.Command(env)
}

func newLimitOverrideCommand(env cli.Env) *cobra.Command {
	var n numbers
	o := &cli.Order{Cobra: cobra.Command{
		Use: "override NAME LANE", Short: "Give one lane of a limit its own numbers", Long: limitOverrideHelp, Example: limitOverrideExamples,
		Args: cli.Arguments(2, 2, "which lane? Give the name of a limit and the lane, as gw-run limit lanes NAME shows it"),
	}}
	flags := o.Cobra.Flags()
	n.addFlags(flags)
	o.Call = func(ctx context.Context, db *cli.Session, args []string) (string, error) {
		maxRunning, rate, per, burst := n.arguments(flags)
		_, err := db.Act(ctx, `
			select S.override_lane($1::text, $2::text, $3::bigint::integer, $4::bigint::integer, $5::text::interval, $6::bigint::integer)`,
			args[0], args[1], maxRunning, rate, per, burst)
		lane := (&target{limit: cli.Condition(args[0]), lane: cli.Condition(args[1])}).what()
		if maxRunning == nil && rate == nil {
			return lane + " has the numbers of the limit.", err
		}
		return lane + " has its own numbers.", err
	}
	return o.Command(env)
}

func newLimitOpenCommand(env cli.Env) *cobra.Command {
	o := &cli.Order{
		Cobra: cobra.Command{
			Use: "open NAME [LANE]", Short: "Open lanes that workers have closed", Long: limitOpenHelp, Example: limitOpenExamples,
			Args: cli.Arguments(1, 2, "which lane? Give the name of a limit and the lane, as gw-run limit lanes NAME shows it"),
		},
		Call: func(ctx context.Context, db *cli.Session, args []string) (string, error) {
			which := &target{limit: cli.Condition(args[0])}
			if len(args) == 2 {
				which.lane = cli.Condition(args[1])
			}
			lanes, err := cli.ActOnce[int64](ctx, db, `select S.open_lane($1::text, $2::text) as value`, which.limit,
				statement.OrNull(which.lane))
			if err == nil && lanes == 0 {
				err = fmt.Errorf("%s has not been closed by a worker; gw-run limit lanes lists the lanes", which.what())
			}
			return which.what() + " is open.", err
		},
	}
	return o.Command(env)
}
