package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// scenario is a behaviour.
type scenario struct {
	name  string   // the behaviour, as a sentence
	steps []string // SQL, each step in a transaction of its own, with the queue's schema in the search_path
	// node is Graphile Worker's answer, in the form of stage.play. If it is empty, our answer only has to be the same.
	node string
	// ours is our answer, and difference the entry of differences with the reason; both are empty if our answer is the same.
	ours       string
	difference string
}

// stage is a database with a queue that only one test uses.
type stage struct {
	url           string
	conn          *pgx.Conn
	notifications []string // since the last step
}

// prepare runs once when a stage is created.
const prepare = `
	set search_path = graphile_worker, public;
	listen "jobs:insert";
	-- The queue's rows as one reads them, with the times as what they mean.
	create view public.rows as
	select j.id, t.identifier as task, q.queue_name as queue, j.payload, j.priority, j.run_at, j.attempts, j.max_attempts,
	       j.last_error, j.key, j.locked_by, j.locked_at is not null as locked, j.revision, j.flags, j.is_available as available,
	       j.created_at = '2020-01-01' as created_long_ago, j.updated_at = '2020-01-01' as untouched
	  from _private_jobs as j
	  join _private_tasks as t on t.id = j.task_id
	  left join _private_job_queues as q on q.id = j.job_queue_id;
	-- Makes jobs old, and has a worker hold those of these ids, and their queues, for so long.
	create procedure public.hold(ids bigint[], worker text, since interval default '1 minute') language sql as $$
		update graphile_worker._private_jobs set attempts = attempts + 1, locked_by = worker, locked_at = now() - since where id = any (ids);
		update graphile_worker._private_job_queues set locked_by = worker, locked_at = now() - since
		 where id in (select job_queue_id from graphile_worker._private_jobs where id = any (ids));
	$$;
	-- Makes a free job, one that runs, and one whose lock is older than four hours; the last two are in queues.
	create procedure public.three_jobs() language sql as $$
		insert into graphile_worker._private_tasks (identifier) values ('a');
		insert into graphile_worker._private_job_queues (queue_name, locked_by, locked_at)
		values ('q2', 'living', now() - interval '1 minute'), ('q3', 'dead', now() - interval '4 hours 1 second');
		insert into graphile_worker._private_jobs (task_id, key, job_queue_id, max_attempts, attempts, locked_by, locked_at, created_at, updated_at)
		select 1, 'k' || n, q.id, 3, case when q.id is null then 0 else 1 end, q.locked_by, q.locked_at, '2020-01-01', '2020-01-01'
		  from generate_series(1, 3) as n
		  left join graphile_worker._private_job_queues as q on q.queue_name = 'q' || n
		 order by n;
	$$;
	create procedure public.grow_old() language sql as $$
		update graphile_worker._private_jobs set created_at = '2020-01-01', updated_at = '2020-01-01';
	$$`

// clear resets a stage.
const clear = `truncate _private_jobs, _private_job_queues, _private_tasks, _private_known_crontabs restart identity`

func newStage(t *testing.T, databaseURL string) *stage {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{url: databaseURL}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		s.notifications = append(s.notifications, describe(n.Payload))
	}
	s.conn, err = pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close(context.Background()) })
	if got := s.step(t, prepare); got != "" {
		t.Fatalf("prepare the stage: %s", got)
	}
	return s
}

// stages returns a schema of Graphile Worker's and one of ours.
func stages(t *testing.T) (node, ours *stage) {
	t.Helper()
	installed := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V18, installed, "")
	return newStage(t, installed), newStage(t, pgtest.Database(t))
}

// describe returns a notification without what is random in it.
func describe(payload string) string {
	var message map[string]any
	if json.Unmarshal([]byte(payload), &message) != nil {
		return fmt.Sprintf("notify %q", payload)
	}
	return fmt.Sprintf("notify %v", message["count"])
}

// play runs the steps of a scenario on a cleared stage. The answer has for each step a line for each row, with columns separated by |,
// or `error` with the SQLSTATE, and then the notifications.
func (s *stage) play(t *testing.T, steps []string) string {
	t.Helper()
	if got := s.step(t, clear); got != "" {
		t.Fatalf("clear the stage: %s", got)
	}
	var answer []string
	for _, step := range steps {
		if got := s.step(t, step); got != "" {
			answer = append(answer, got)
		}
	}
	return strings.Join(answer, "\n")
}

func (s *stage) step(t *testing.T, sql string) string {
	t.Helper()
	var lines []string
	s.notifications = nil
	results, err := s.conn.PgConn().Exec(t.Context(), sql).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			lines = append(lines, render(row))
		}
	}
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		lines = append(lines, "error "+refused.Code)
	} else if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(append(lines, s.notifications...), "\n")
}

func render(row [][]byte) string {
	columns := make([]string, len(row))
	for i, column := range row {
		if columns[i] = string(column); column == nil {
			columns[i] = "null"
		}
	}
	return strings.Join(columns, "|")
}

func scenarios() []scenario {
	return slices.Concat(schemaScenarios, addJobScenarios, keyScenarios, addJobsScenarios, adminScenarios)
}

func TestOurFunctionsBehaveAsGraphileWorkersDoButForTheListedDifferences(t *testing.T) {
	node, ours := stages(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			want := node.play(t, s.steps)
			if s.node != "" && want != trim(s.node) {
				t.Errorf("Graphile Worker answers\n%s\nwant\n%s", want, trim(s.node))
			}
			if s.ours != "" {
				want = trim(s.ours)
			}
			if got := ours.play(t, s.steps); got != want {
				t.Errorf("our functions answer\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// trim removes the indentation of an answer in this source.
func trim(answer string) string {
	lines := strings.Split(strings.TrimSpace(answer), "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}
