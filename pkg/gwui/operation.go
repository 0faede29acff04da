package gwui

import (
	"context"
	"crypto/rand"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	mostOperations = 200         // that are remembered
	mostTold       = 10          // skipped jobs whose reasons are shown
	soon           = time.Second // how long an action waits before it shows progress instead
	stepTries      = 3           // of a step that met a conflict
	newsTime       = time.Minute // after its end, a reload of a page does not repeat the result of an operation
)

// operation is a change of jobs in progress. It continues after its viewer has left, in steps, each in a transaction with its
// audit.
type operation struct {
	ID        string
	Told      string // what an act on something else than jobs has done; the other fields are not set then
	Act       jobAct
	Viewer    string
	Total     int
	IsAtLeast bool // there may be more than Total

	change operate.Change
	ids    []int64 // or, if isAll:
	isAll  bool
	filter filter
	upto   int64 // the highest id that it changes
	back   string
	ended  chan struct{}
	at     time.Time // of the end
	err    error     // with which it has ended
	stop   context.CancelFunc

	mu       sync.Mutex
	progress progress
}

type progress struct {
	Done, Skipped, Looked int
	Reasons               []operate.Outcome // the first few
	Problem               problem
	Ended, Stopped        bool
}

// operations are those in progress, and the last ones that have ended.
type operations struct {
	mu    sync.Mutex
	known map[string]*operation
	order []string
	all   sync.WaitGroup
}

func (s *operations) get(id string) *operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

func (s *operations) start(c *Console, o *operation, may rights) {
	o.ID, o.ended = rand.Text(), make(chan struct{})
	var ctx context.Context
	ctx, o.stop = context.WithCancel(c.ctx)
	s.add(o)
	s.all.Go(func() {
		defer o.stop()
		err := o.run(ctx, c, may)
		o.mu.Lock()
		o.progress.Ended, o.at, o.err = true, time.Now(), err
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

// add remembers an operation, and forgets the oldest that has ended if there are many.
func (s *operations) add(o *operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[o.ID] = o
	s.order = append(s.order, o.ID)
	if len(s.order) > mostOperations && s.known[s.order[0]].Progress().Ended {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
}

// note remembers what an act on something else than jobs has done, and returns the id under which a page tells it.
func (s *operations) note(told string) string {
	o := &operation{ID: rand.Text(), Told: told, at: time.Now()}
	o.progress.Ended = true
	s.add(o)
	return o.ID
}

// refused returns the error of an operation that has changed no job because of it.
func (o *operation) refused() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.progress.Looked > 0 || o.progress.Stopped {
		return nil
	}
	return o.err
}

// isNews reports whether the operation is under way or has ended a short time ago, so that a page that names it tells of it.
func (o *operation) isNews() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.progress.Ended || time.Since(o.at) < newsTime
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
	p.Reasons = slices.Clone(p.Reasons)
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
		for step := range slices.Chunk(o.ids, operate.StepJobs) {
			if err := o.step(ctx, c, step); err != nil {
				return err
			}
		}
		return nil
	}
	for below := o.upto + 1; ; {
		search, args := o.filter.search(may, below, operate.StepJobs, mostRead)
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
		err = o.changeOnce(step, c, ids)
		cancel()
		if err == nil || try == stepTries || ctx.Err() != nil || sqlstate.ClassOf(sqlstate.Of(err)) != sqlstate.Retry {
			return err
		}
	}
}

func (o *operation) changeOnce(ctx context.Context, c *Console, ids []int64) error {
	var outcomes []operate.Outcome
	audit := auditOf(o.Viewer)
	audit.Selection, audit.Operation = o.Selection(), o.ID
	err := c.store.act(ctx, audit, func(conn *pgx.Conn) (err error) {
		outcomes, err = o.change.Step(ctx, conn, c.store.schema, ids, o.Progress().Looked)
		return err
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.progress.Looked += len(ids)
	for _, out := range outcomes {
		if out.IsDone {
			o.progress.Done++
			continue
		}
		o.progress.Skipped++
		if o.progress.Skipped <= mostTold {
			o.progress.Reasons = append(o.progress.Reasons, out)
		}
	}
	return nil
}

// loadNotice returns the result of the operation that the query of a page names.
func (c *Console) loadNotice(q *request) func(context.Context) (any, error) {
	o := c.operations.get(q.query.Get("op"))
	return func(context.Context) (any, error) {
		if o == nil || !o.isNews() {
			return nil, nil
		}
		return o, nil
	}
}

func operationPage(_ context.Context, c *Console, q *request) (*view, error) {
	o := c.operations.get(q.query.Get("op"))
	if o == nil || o.Told != "" {
		return nil, statusError{http.StatusNotFound, "This console does not know this operation; the page Audit shows what was done."}
	}
	return &view{Title: o.Act.Title, Nav: "jobs", Reload: !o.Progress().Ended, panels: []panel{
		{id: "operation", body: "operation", load: func(context.Context) (any, error) { return o, nil }},
	}}, nil
}

// Did is what the act has done, such as "Retried".
func (o *operation) Did() string { return o.change.Act.Did }

// Back is the page from which an operation was started.
func (o *operation) Back() template.URL { return template.URL(withOperation(o.back, o.ID)) }

func stopOperation(_ context.Context, c *Console, q *request, form url.Values) (outcome, error) {
	o := c.operations.get(form.Get("op"))
	if o == nil || o.Told != "" {
		return outcome{}, errNoPage
	}
	if err := q.needs(o.Act.function); err != nil {
		return outcome{}, err
	}
	o.stop()
	<-o.ended // the step under way has a time limit
	return outcome{to: "operations?op=" + o.ID}, nil
}
