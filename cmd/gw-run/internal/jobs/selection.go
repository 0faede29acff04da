package jobs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
)

const countStep = 100_000 // ids that are read at once

// selection is the conditions by which a command selects jobs.
type selection struct{ operate.Selection }

func (s *selection) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*cli.Condition)(&s.State), "state", "jobs in this `state`: ready, scheduled, running or failed")
	flags.VarP((*cli.Condition)(&s.Task), "task", "t", "jobs of this `task`")
	flags.VarP((*cli.Condition)(&s.Queue), "queue", "q", "jobs in this named `queue`")
	flags.VarP((*cli.Condition)(&s.Key), "key", "k", "the job with this `key`")
	flags.Var((*cli.Span)(&s.Older), "older-than", "jobs that were added this `time` ago or longer, such as 90m or 7d")
	flags.Var((*cli.Span)(&s.Newer), "newer-than", "jobs that were added less than this `time` ago")
	cli.CompleteWords(cmd, "state", "ready", "scheduled", "running", "failed")
}

// isOne reports whether the conditions can match at most one job.
func (s selection) isOne() bool { return s.Key != "" }

// isKeyAlone reports whether a key is the only condition.
func (s selection) isKeyAlone() bool {
	return s.isOne() && s.Selection == (operate.Selection{Key: s.Key})
}

// find returns the ids of the jobs that match the conditions.
func (s selection) find(ctx context.Context, db *cli.Session) ([]int64, error) {
	var ids []int64
	for after := int64(0); ; after = ids[len(ids)-1] {
		rows, _ := db.Conn.Query(ctx, db.SQL(`
			select m.id
			  from S.matching_job_ids(`+operate.Conditions(1)+`, null::bigint[], $7::bigint, $8::integer) as m (id)
			 order by m.id`), append(s.Arguments(), after, countStep)...) // the error comes again
		more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, fmt.Errorf("count jobs: %w", cli.Explain(err))
		}
		ids = append(ids, more...)
		if len(more) < countStep {
			return ids, nil
		}
	}
}

// orIDs reads the arguments of a command as ids of jobs, in place of conditions.
func (s selection) orIDs(args []string) ([]int64, error) {
	ids, err := jobIDs(args)
	if err == nil && len(ids) > 0 && !s.IsEmpty() {
		err = cli.Usagef("ids and conditions exclude each other")
	}
	return ids, err
}

// jobIDs reads the arguments of a command as ids of jobs.
func jobIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, cli.Usagef("%q is not the id of a job", arg)
		}
		ids[i] = id
	}
	return ids, nil
}
