package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

const countStep = 100_000 // ids that are read at once

// selection is the conditions by which a command selects jobs. A job must match all conditions that are given.
type selection struct {
	state, task, queue, key condition
	olderThan, newerThan    span
}

func (s *selection) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&s.state, "state", "jobs in this `state`: ready, scheduled, running or failed")
	flags.VarP(&s.task, "task", "t", "jobs of this `task`")
	flags.VarP(&s.queue, "queue", "q", "jobs in this named `queue`")
	flags.VarP(&s.key, "key", "k", "the job with this `key`")
	flags.Var(&s.olderThan, "older-than", "jobs that were added this `time` ago or longer, such as 90m or 7d")
	flags.Var(&s.newerThan, "newer-than", "jobs that were added less than this `time` ago")
	complete := cobra.FixedCompletions([]string{"ready", "scheduled", "running", "failed"}, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("state", complete) // the flag is there
}

func (s selection) isEmpty() bool { return s == selection{} }

// String returns the conditions as text, for the audit; empty without conditions.
func (s selection) String() string {
	var words []string
	for _, c := range [][2]string{
		{"state ", string(s.state)}, {"task ", string(s.task)}, {"queue ", string(s.queue)}, {"key ", string(s.key)},
		{"added before ", string(s.olderThan)}, {"added within ", string(s.newerThan)},
	} {
		if c[1] != "" {
			words = append(words, c[0]+c[1])
		}
	}
	return strings.Join(words, ", ")
}

// isOne reports whether the conditions can match at most one job.
func (s selection) isOne() bool { return s.key != "" }

// arguments returns the conditions as the first six arguments of the functions that take them.
func (s selection) arguments() []any {
	return []any{orNull(s.state), orNull(s.task), orNull(s.queue), orNull(s.key), orNull(s.olderThan), orNull(s.newerThan)}
}

// conditions returns the SQL of the arguments, as the parameters of a statement from number first on.
func conditions(first int) string {
	return fmt.Sprintf("$%d::text, $%d::text, $%d::text, $%d::text, $%d::text::interval, $%d::text::interval",
		first, first+1, first+2, first+3, first+4, first+5)
}

// find returns the ids of the jobs that match the conditions.
func (s selection) find(ctx context.Context, db *session) ([]int64, error) {
	var ids []int64
	for {
		after := int64(0)
		if len(ids) > 0 {
			after = ids[len(ids)-1]
		}
		rows, err := db.conn.Query(ctx, db.sql(`
			select m.id
			  from S.matching_job_ids(`+conditions(1)+`, null::bigint[], $7::bigint, $8::integer) as m (id)
			 order by m.id`), append(s.arguments(), after, countStep)...)
		if err != nil {
			return nil, fmt.Errorf("count jobs: %w", explain(err))
		}
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

func orNull[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// jobIDs reads the arguments of a command as ids of jobs.
func jobIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, usageError{fmt.Errorf("%q is not the id of a job", arg)}
		}
		ids[i] = id
	}
	return ids, nil
}
