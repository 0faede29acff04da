package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/bench/internal/nodejs"
	"github.com/gwsql/gw/bench/internal/queue"
)

// recordedBatch is the batch size of the recorded claim. The statement contains it as a number, which is replaced for
// claims of other sizes.
const recordedBatch = 7919

// nodeStatements are the statements of a Node worker by the names that it gives them, without the schema.
type nodeStatements map[string]string

// node is a contender that runs jobs in the tables of Node's Graphile Worker with the statements that its worker sends.
func node(recorded nodeStatements) contender {
	work := func(ctx context.Context, conn *pgx.Conn) (worker, error) {
		known, err := queue.TaskIDs(ctx, conn)
		if err != nil {
			return nil, err
		}
		return &nodeWorker{conn: conn, tasks: known, recorded: recorded, claims: map[int]string{}}, nil
	}
	return contender{name: "Node", template: nodejs.Template, enqueue: callAddJobs, work: work}
}

// errOneByOne is the reason why Node has no batch claim with forbidden flags.
var errOneByOne = errors.New("with forbidden flags Node claims one by one")

type nodeWorker struct {
	conn     *pgx.Conn
	tasks    []int32
	recorded nodeStatements
	claims   map[int]string // by batch size
}

func (w *nodeWorker) claim(ctx context.Context, n int, forbidden []string) ([]queue.Job, error) {
	args := []any{workerID, w.tasks}
	text := w.recorded["get_job"]
	switch {
	case forbidden != nil && n > 1:
		return nil, errOneByOne
	case forbidden != nil:
		args, text = append(args, forbidden), w.recorded["get_jobF"]
	case n > 1:
		if w.claims[n] == "" {
			w.claims[n] = strings.ReplaceAll(w.recorded[fmt.Sprintf("get_job%d", recordedBatch)],
				strconv.Itoa(recordedBatch), strconv.Itoa(n))
		}
		text = w.claims[n]
	}
	rows, err := w.conn.Query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("claim jobs: %w", err)
	}
	return queue.ReadJobs(rows, n)
}

func (w *nodeWorker) complete(ctx context.Context, jobs []queue.Job) error {
	var plain, queued []int64
	for _, j := range jobs {
		if j.QueueID == nil {
			plain = append(plain, j.ID)
		} else {
			queued = append(queued, j.ID)
		}
	}
	done := 0
	for _, part := range []struct {
		name string
		args []any
		when bool
	}{
		{"complete_job_q", []any{queued, workerID}, len(queued) > 0},
		{"complete_job", []any{first(plain)}, len(plain) == 1},
		{"complete_jobs", []any{plain}, len(plain) > 1},
	} {
		if !part.when {
			continue
		}
		tag, err := w.conn.Exec(ctx, w.recorded[part.name], part.args...)
		if err != nil {
			return fmt.Errorf("complete jobs: %w", err)
		}
		done += int(tag.RowsAffected())
	}
	return queue.Missed(len(jobs), done)
}

func first(ids []int64) int64 {
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}
