package gwui

import (
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
)

const (
	mostOperations = 200         // that are remembered
	mostTold       = 10          // skipped jobs whose reasons are shown
	soon           = time.Second // how long an action waits before it shows progress instead
	stepTries      = 3           // of a step that met a conflict
)

type conn = pgx.Conn

// operation is a change of jobs in progress. It continues after its viewer has left, in steps, each in a transaction with its
// audit.
type operation struct {
	ID        string
	Act       jobAct
	Viewer    string
	Total     int
	IsAtLeast bool // there may be more than Total

	ids    []int64 // or, if isAll:
	isAll  bool
	filter filter
	upto   int64 // the highest id that it changes
	args   []any
	back   string
	ended  chan struct{}
	stop   context.CancelFunc

	mu       sync.Mutex
	progress progress
}

// progress is the progress of an operation.
type progress struct {
	Done, Skipped, Looked int
	Reasons               []skippedJob // the first few
	Problem               problem
	Ended, Stopped        bool
}

// skippedJob is a row of skip_reasons.
type skippedJob struct {
	ID       int64  `json:"id"`
	Reason   string `json:"reason"`
	LockedBy string `json:"locked_by"`
	Text     string `json:"-"`
}

// operations are those in progress, and the last ones that have ended.
type operations struct {
	mu    sync.Mutex
	known map[string]*operation
	order []string
	all   sync.WaitGroup
}

func newOperations() *operations { return &operations{known: make(map[string]*operation)} }

func (s *operations) wait() { s.all.Wait() }

func (s *operations) get(id string) *operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// start begins an operation, and forgets the oldest that has ended if there are many.
func (s *operations) start(c *Console, o *operation, may rights) {
	o.ID, o.ended = rand.Text(), make(chan struct{})
	var ctx context.Context
	ctx, o.stop = context.WithCancel(c.ctx)
	s.mu.Lock()
	s.known[o.ID] = o
	s.order = append(s.order, o.ID)
	if len(s.order) > mostOperations && s.known[s.order[0]].Progress().Ended {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	s.mu.Unlock()
	s.all.Go(func() {
		defer o.stop()
		err := o.run(ctx, c, may)
		o.mu.Lock()
		o.progress.Ended = true
		if ctx.Err() != nil {
			o.progress.Stopped = true
		} else if err != nil {
			o.progress.Problem = c.explain(err, "")
		}
		o.mu.Unlock()
		c.forget()
		close(o.ended)
	})
}

// endsSoon waits for the end for a short time.
func (o *operation) endsSoon(ctx context.Context) bool {
	select {
	case <-o.ended:
		return true
	case <-ctx.Done():
	case <-time.After(soon):
	}
	return false
}

// Progress returns the progress.
func (o *operation) Progress() progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.progress
	p.Reasons = append([]skippedJob(nil), p.Reasons...)
	return p
}

// Selection returns which jobs it changes, as text.
func (o *operation) Selection() string {
	if o.isAll {
		return o.filter.String()
	}
	return ""
}

// run goes through the jobs, highest id first.
func (o *operation) run(ctx context.Context, c *Console, may rights) error {
	if !o.isAll {
		for rest := o.ids; len(rest) > 0; {
			step := rest[:min(stepJobs, len(rest))]
			rest = rest[len(step):]
			if err := o.step(ctx, c, step); err != nil {
				return err
			}
		}
		return nil
	}
	for below := o.upto + 1; ; {
		search, args := o.filter.search(may, below, stepJobs, mostRead)
		hits, err := read[found](ctx, c.store, search, args...)
		if err != nil || len(hits.Rows) == 0 {
			return err
		}
		hit := hits.Rows[0]
		if len(hit.IDs) > 0 {
			if err := o.step(ctx, c, hit.IDs); err != nil {
				return err
			}
		}
		if hit.Next == nil {
			return nil
		}
		below = *hit.Next
	}
}

// step changes some jobs. It tries again after a conflict with another transaction. Once begun, it is not stopped.
func (o *operation) step(ctx context.Context, c *Console, ids []int64) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for try := 1; ; try++ {
		step, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*actTimeout)
		err = o.change(step, c, ids)
		cancel()
		if err == nil || try == stepTries || ctx.Err() != nil || sqlstate.ClassOf(sqlstate.Of(err)) != sqlstate.Retry {
			return err
		}
	}
}

// change changes jobs in one transaction.
func (o *operation) change(ctx context.Context, c *Console, ids []int64) error {
	wanted := `select w.id from pg_catalog.unnest($1::bigint[]) as w (id)`
	args := append([]any{idArray(ids)}, o.args...)
	if o.isAll {
		n := len(args)
		wanted = fmt.Sprintf(`select m.id from S.matching_job_ids($%d::text, $%d::text, $%d::text, $%d::text, $%d::text::interval,
			$%d::text::interval, job_ids => $1::bigint[], max_rows => null) as m (id)`, n+1, n+2, n+3, n+4, n+5, n+6)
		args = append(args, orNull(o.filter.State), orNull(o.filter.Task), orNull(o.filter.Queue), orNull(o.filter.Key),
			orNull(o.filter.Older), orNull(o.filter.Newer))
	}
	sql := `
		with wanted as materialized (` + wanted + `),
		     changed as materialized (
		       select j.id from ` + statement.CallOf(o.Act.call, o.Progress().Looked) + ` as j)
		select w.id, c.id is not null as is_done
		  from (select distinct w.id from wanted as w) as w
		  left join changed as c on c.id operator(pg_catalog.=) w.id
		 order by w.id`
	t := transaction{mode: "read write", timeout: actTimeout, lockTimeout: actTimeout / 4,
		settings: c.audit(o.Viewer, o.Selection(), o.ID)}
	var left []int64
	done := 0
	var reasons answer[skippedJob]
	err := c.store.in(ctx, t, func(conn *conn) error {
		outcomes, err := ask[struct {
			ID     int64 `json:"id"`
			IsDone bool  `json:"is_done"`
		}](ctx, c.store, conn, sql, args...)
		if err != nil {
			return err
		}
		for _, out := range outcomes.Rows {
			if out.IsDone {
				done++
			} else {
				left = append(left, out.ID)
			}
		}
		if len(left) > 0 {
			told := left[:min(len(left), mostTold)]
			reasons, err = ask[skippedJob](ctx, c.store, conn, `select s.* from S.skip_reasons($1::bigint[]) as s`, idArray(told))
		}
		return err
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.progress.Done += done
	o.progress.Skipped += len(left)
	o.progress.Looked += len(ids)
	for _, r := range reasons.Rows {
		if len(o.progress.Reasons) < mostTold {
			r.Text = o.Act.explainSkip(r)
			o.progress.Reasons = append(o.progress.Reasons, r)
		}
	}
	return nil
}

// explainSkip returns why a job was skipped.
func (a jobAct) explainSkip(s skippedJob) string {
	switch s.Reason {
	case "gone":
		return "is not there any more"
	case "running":
		return "is being run by " + printable(s.LockedBy)
	case "failed", "replaced":
		if a.skip != "" {
			return a.skip
		}
	}
	if s.Reason == "replaced" {
		return "was replaced or removed while it ran"
	}
	return "was locked by another transaction just now"
}

// loadNotice returns the result of the operation that the query of a page names.
func (c *Console) loadNotice(q *request) func(context.Context) (any, error) {
	o := c.operations.get(q.query.Get("op"))
	return func(context.Context) (any, error) {
		if o == nil {
			return nil, nil
		}
		return o, nil
	}
}

func operationPage(_ context.Context, c *Console, q *request) (*view, error) {
	o := c.operations.get(q.query.Get("op"))
	if o == nil {
		return nil, statusError{http.StatusNotFound, "This console does not know this operation; the page Audit shows what was done."}
	}
	return &view{Title: o.Act.Title, Nav: "jobs", Reload: !o.Progress().Ended, panels: []panel{
		{id: "operation", body: "operation", load: func(context.Context) (any, error) { return o, nil }},
	}}, nil
}

// Back is the page from which an operation was started.
func (o *operation) Back() template.URL { return template.URL(withOperation(o.back, o.ID)) }

func stopOperation(_ context.Context, c *Console, q *request, form url.Values) (string, error) {
	o := c.operations.get(form.Get("op"))
	if o == nil {
		return "", errNoPage
	}
	if err := q.needs(o.Act.function); err != nil {
		return "", err
	}
	o.stop()
	<-o.ended // the step under way has a time limit
	return "operations?op=" + o.ID, nil
}
