package limits

import (
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

// target is the target of a pause.
type target struct {
	task, queue, limit, lane cli.Condition
	all                      bool
}

func (t *target) addFlags(flags *pflag.FlagSet) {
	flags.VarP(&t.task, "task", "t", "the jobs of this `task`")
	flags.VarP(&t.queue, "queue", "q", "the jobs in this named `queue`")
	flags.Var(&t.limit, "limit", "the jobs of this `limit`")
	flags.Var(&t.lane, "lane", "with --limit, only this `lane`")
	flags.BoolVar(&t.all, "all", false, "all jobs")
}

func (t *target) check() error {
	given := 0
	for _, is := range []bool{t.task != "", t.queue != "", t.limit != "", t.all} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return cli.Usagef("which jobs? Give --task, --queue, --limit or --all")
	case given > 1:
		return cli.Usagef("--task, --queue, --limit and --all exclude each other")
	case t.lane != "" && t.limit == "":
		return cli.Usagef("--lane needs --limit")
	}
	return nil
}

func (t *target) arguments() []any {
	return []any{statement.OrNull(t.task), statement.OrNull(t.queue), statement.OrNull(t.limit), statement.OrNull(t.lane)}
}

// what returns the target as the subject of a sentence.
func (t *target) what() string {
	switch {
	case t.task != "":
		return "The task " + terminal.Printable(string(t.task))
	case t.queue != "":
		return "The queue " + terminal.Printable(string(t.queue))
	case t.lane != "":
		return "The lane " + terminal.Printable(string(t.lane)) + " of the limit " + terminal.Printable(string(t.limit))
	case t.limit != "":
		return "The limit " + terminal.Printable(string(t.limit))
	}
	return "Everything"
}
