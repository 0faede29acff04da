package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/operate"
)

const countStep = 100_000 // ids that are read at once

// selection is the conditions by which a command selects jobs.
type selection struct{ operate.Selection }

func (s *selection) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*condition)(&s.State), "state", "jobs in this `state`: ready, scheduled, running or failed")
	flags.VarP((*condition)(&s.Task), "task", "t", "jobs of this `task`")
	flags.VarP((*condition)(&s.Queue), "queue", "q", "jobs in this named `queue`")
	flags.VarP((*condition)(&s.Key), "key", "k", "the job with this `key`")
	flags.Var((*span)(&s.Older), "older-than", "jobs that were added this `time` ago or longer, such as 90m or 7d")
	flags.Var((*span)(&s.Newer), "newer-than", "jobs that were added less than this `time` ago")
	completeWords(cmd, "state", "ready", "scheduled", "running", "failed")
}

// isOne reports whether the conditions can match at most one job.
func (s selection) isOne() bool { return s.Key != "" }

// find returns the ids of the jobs that match the conditions.
func (s selection) find(ctx context.Context, db *session) ([]int64, error) {
	var ids []int64
	for after := int64(0); ; after = ids[len(ids)-1] {
		rows, _ := db.conn.Query(ctx, db.sql(`
			select m.id
			  from S.matching_job_ids(`+operate.Conditions(1)+`, null::bigint[], $7::bigint, $8::integer) as m (id)
			 order by m.id`), append(s.Arguments(), after, countStep)...) // the error comes again
		more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, fmt.Errorf("count jobs: %w", explain(err))
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
		err = usagef("ids and conditions exclude each other")
	}
	return ids, err
}

// jobIDs reads the arguments of a command as ids of jobs.
func jobIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, usagef("%q is not the id of a job", arg)
		}
		ids[i] = id
	}
	return ids, nil
}
