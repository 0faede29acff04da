package shim

import (
	"context"
	"slices"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// A claim never waits: it skips rows that another transaction has locked briefly, such as the lane of a limit, and jobs
// that are being moved because a limit has changed. An empty claim then reports that jobs are due within soonDue, or
// within cursorDue if there may be jobs in front of the claim cursor. A run that ends when nothing is runnable claims
// again, for mostLinger after its last job.
const (
	soonDue    = 60 * time.Millisecond
	cursorDue  = 500 * time.Millisecond
	mostLinger = 5 * time.Second
)

// After this number of consecutive empty claims of jobs that are due soon, the worker claims at growing intervals:
// another transaction may lock the jobs while it stays open. When it ends, a notification follows.
const (
	mostVain     = 10
	vainInterval = 500 * time.Millisecond
)

// claimsAtOnce is the number of concurrent claims in a flood. With one, the database is idle while an answer is sent
// and read; a third would mostly read rows that the other two have locked.
const claimsAtOnce = 2

// claims is the source of all jobs but suspects. When a claim returns the maximum number of jobs, a flood begins: there
// are several claims at once for as long as each returns that number. A single claim then detects the end of the flood.
// If a task has a limit of its own, there are no floods.
type claims struct {
	*intake
	aside    *aside
	suspects *suspects

	pollAt   time.Time // when to search without another reason, zero after that
	limit    int       // how many jobs may be claimed
	rest     claimRest // nothing is claimed before it is over
	vain     int       // consecutive empty claims of jobs that are due soon
	floodOf  *taskSet  // the tasks of the flood, nil without
	inFlight int       // claims of a flood
	answers  chan besideAnswer
}

type besideAnswer struct {
	claimTry
	jobs []*Job
	err  error
}

func (c *claims) tick(now time.Time) time.Time {
	if !c.pollAt.IsZero() && !now.Before(c.pollAt) {
		c.look, c.pollAt = true, time.Time{}
	}
	if !now.Before(c.rest.until) {
		c.rest.end()
	}
	if c.tasks.Load() != c.floodOf || c.inFlight == 0 && c.room(0) < ration.MaxClaim {
		c.floodOf = nil
	}
	due := earlier(c.pollAt, c.rest.until)
	if !c.look {
		due = earlier(due, c.sleep.checkAt())
	}
	return due
}

func (c *claims) isFlood() bool { return c.floodOf != nil || c.inFlight > 0 }

func (c *claims) ready() bool {
	c.limit = c.room(c.inFlight * ration.MaxClaim)
	switch {
	case c.drained:
		return false
	case c.isFlood():
		return c.floodOf != nil && c.inFlight < claimsAtOnce && c.limit == ration.MaxClaim
	case c.look:
		return c.limit > 0 && c.rest.until.IsZero() && c.suspects.allowsOthers()
	default:
		at := c.sleep.checkAt()
		return !at.IsZero() && !time.Now().Before(at)
	}
}

func (c *claims) run(stop context.Context) error {
	if !c.look {
		c.look = c.sleep.anyEnded(context.WithoutCancel(stop))
		return nil
	}
	set := c.tasks.Load()
	ask := c.plan(c.limit, set)
	switch {
	case len(ask.Tasks) == 0: // until one of them has room
		c.look = false
		return nil
	case c.floodOf != nil:
		return c.claimBeside(stop, set, ask)
	case c.aside.singly > 0:
		_, err := c.aside.claimSingly(stop, set, ask, c.queries.batch)
		return err
	}
	return c.claim(stop, set, ask)
}

// claim claims jobs, or reads when to search again. Once sent, a claim is not canceled, because the jobs that it locks
// would be lost.
func (c *claims) claim(stop context.Context, set *taskSet, ask ration.Plan) error {
	try, err := c.begin(stop, set, ask)
	if err != nil {
		return err
	}
	lasting := c.sleep.lasting
	if !ask.Whole {
		lasting = 0 // the claim may be empty only because a task is full, so the worker must not sleep
	}
	ctx := context.WithoutCancel(stop)
	answer, err := c.queries.claim(ctx, ask, lasting, try.forbidden)
	jobs := len(answer.jobs)
	if err == nil {
		if set.isLimited {
			limited := slices.ContainsFunc(answer.jobs,
				func(job *Job) bool { return set.byName[job.TaskIdentifier].limit > 0 })
			c.backlog.learn(func(r *ration.Ration) { r.Planned(ask, jobs, limited) })
		}
		c.suspects.noteClaim(jobs > 0)
		c.lingers, c.news.empty = false, jobs == 0
	}
	if jobs > 0 && jobs < ask.Limit {
		c.rest.begin(answer.jobs[0].Lease, jobs, time.Since(try.sent))
	}
	c.end(stop, try, answer.jobs, err)
	switch {
	case err != nil:
		return err
	case jobs == 0 && ask.Whole:
		return c.fallAsleep(ctx, answer, try.sent)
	case jobs == 0:
		return nil
	}
	// There may be more jobs, in a named queue or behind those that other workers are claiming. Only an empty answer
	// ends the search.
	c.vain = 0
	err = c.sleep.rise(ctx, jobs == ask.Limit)
	if err == nil && jobs == ration.MaxClaim && !set.isLimited {
		c.floodOf = set
	}
	return err
}

func (c *claims) fallAsleep(ctx context.Context, answer claimAnswer, sent time.Time) error {
	delay := c.sleep.pollInterval
	if answer.dueIn != nil {
		delay = min(delay, *answer.dueIn)
	}
	c.pollAt = time.Now().Add(c.unlessVain(delay))
	c.lingers = c.once && delay <= cursorDue && time.Since(c.claimedAt) < mostLinger
	again, err := c.sleep.fall(ctx, sent, answer.newMark)
	c.look = again || err != nil
	return err
}

// unlessVain returns how long to wait after an empty claim that reports when jobs are due.
func (c *claims) unlessVain(due time.Duration) time.Duration {
	if due > soonDue {
		c.vain = 0
		return due
	}
	if c.vain++; c.vain <= mostVain {
		return due
	}
	return min(soonDue<<min(c.vain-mostVain, 4), vainInterval, c.sleep.pollInterval)
}

// slack returns what tells that more jobs are wanted, nil while that changes nothing.
func (c *claims) slack() signal {
	if c.inFlight == claimsAtOnce {
		return nil
	}
	return c.backlog.slack
}

func (c *claims) claimBeside(stop context.Context, set *taskSet, ask ration.Plan) error {
	try, err := c.begin(stop, set, ask)
	if err != nil {
		c.floodOf = nil
		return err
	}
	c.inFlight++
	go func() {
		jobs, err := c.queries.claimJobs(context.WithoutCancel(stop), c.queries.batch, ask, try.forbidden)
		c.answers <- besideAnswer{try, jobs, err}
	}()
	return nil
}

func (c *claims) take(stop context.Context, a besideAnswer) error {
	c.inFlight--
	if len(a.jobs) < ration.MaxClaim {
		c.floodOf = nil
	}
	c.end(stop, a.claimTry, a.jobs, a.err)
	return a.err
}

func (c *claims) awaitAnswers(stop context.Context) {
	for c.inFlight > 0 {
		_ = c.take(stop, <-c.answers)
	}
}

// A rest lasts for restClaims times as long as its claim took, which is about how long short jobs need to end, within
// these bounds.
const (
	restClaims = 3
	leastRest  = 2 * time.Millisecond
	mostRest   = 20 * time.Millisecond
)

// claimRest is a pause of claims after one that returned fewer jobs than it asked for, until these jobs have ended:
// what it left are mostly jobs of full lanes and busy queues, which these jobs hold.
type claimRest struct {
	until time.Time // the latest end, zero without a rest
	lease int64     // of the claim
	jobs  int       // how many of its jobs have not ended
}

// begin begins the rest after a claim of so many jobs that took so long.
func (r *claimRest) begin(lease int64, jobs int, claim time.Duration) {
	*r = claimRest{until: time.Now().Add(min(max(leastRest, restClaims*claim), mostRest)), lease: lease, jobs: jobs}
}

func (r *claimRest) ended(jobs []*Job) {
	for _, job := range jobs {
		if job.Lease == r.lease {
			r.jobs--
		}
	}
	if r.jobs <= 0 {
		r.end()
	}
}

func (r *claimRest) end() { r.until = time.Time{} }
