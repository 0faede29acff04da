package shim

import (
	"context"
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// jobSource is one way to get jobs. Its run makes one call of the database, or few, and is repeated as long as it is
// ready.
type jobSource interface {
	// tick notes what the time has changed, and returns when it will change something, zero for never.
	tick(now time.Time) time.Time
	ready() bool
	run(stop context.Context) error
}

// fetcher gets jobs from its sources and passes them to the executors. Nothing else claims jobs.
type fetcher struct {
	*intake
	lost     *lostClaims
	aside    *aside
	suspects *suspects
	claims   *claims
	sources  []jobSource // these, in the order of precedence

	notices *notices
	changed signal // the tasks were replaced
	settled <-chan settlement
	advice  adviceBox

	retry  connection.Backoff
	paused time.Time // the end of the pause after a failed claim, zero without
	timer  *time.Timer
	due    time.Time // when timer fires, zero if it does not
}

// newFetcher returns a fetcher with all of its sources. Its signals are not set.
func newFetcher(in *intake) *fetcher {
	f := &fetcher{intake: in, lost: &lostClaims{intake: in}, aside: &aside{intake: in}}
	f.suspects = &suspects{intake: in, aside: f.aside}
	f.claims = &claims{
		intake: in, aside: f.aside, suspects: f.suspects, answers: make(chan besideAnswer, claimsAtOnce),
	}
	f.sources = []jobSource{f.lost, f.aside, f.suspects, f.claims}
	return f
}

// run gets jobs until stop ends or, with once, until nothing is runnable. Then it returns the jobs that have not
// started and closes the backlog.
func (f *fetcher) run(stop context.Context) {
	now := time.Now()
	f.look, f.claimedAt, f.staleAt = true, now, now.Add(ration.MaxWait)
	f.claims.pollAt = now.Add(f.sleep.pollInterval)
	f.timer = time.NewTimer(0)
	defer f.timer.Stop()
	for stop.Err() == nil && !f.isOver {
		f.takeNews()
		if f.backlog.reopened() {
			f.look, f.suspects.askedBeside = true, false
		}
		due := f.tick(time.Now())
		if source := f.next(); source != nil {
			f.conclude(source.run(stop))
		} else {
			f.wait(stop, due)
		}
	}
	f.claims.awaitAnswers(stop)
	f.giveBack(f.backlog.close())
	f.giveBack(f.aside.jobs)
}

// tick passes the time on, and returns when to do so again.
func (f *fetcher) tick(now time.Time) (due time.Time) {
	if !now.Before(f.paused) {
		f.paused = time.Time{}
	}
	if !f.staleAt.IsZero() && !now.Before(f.staleAt) {
		f.returnOld(now)
	}
	due = earlier(f.paused, f.staleAt)
	for _, source := range f.sources {
		if at := source.tick(now); f.paused.IsZero() {
			due = earlier(due, at)
		}
	}
	return due
}

// next returns the first source that is ready, nil without. While several claims are in flight, there are no other
// calls.
func (f *fetcher) next() jobSource {
	if !f.paused.IsZero() {
		return nil
	}
	for _, source := range f.sources {
		if (source == f.claims || !f.claims.isFlood()) && source.ready() {
			return source
		}
	}
	return nil
}

// conclude handles the error of a source: it ends the worker if the call itself is invalid, otherwise it pauses the
// claims.
func (f *fetcher) conclude(err error) {
	switch {
	case err == nil:
		f.retry.Reset()
	case sqlstate.IsMistake(err) || sqlstate.In(err, "GW"):
		f.fail(fmt.Errorf("claim jobs: %w", err))
		f.isOver = true
	default:
		f.queries.warn(f.logger, "claim failed, worker will try again", err)
		f.aside.failed(err, max(f.room(0), 1))
		f.paused = time.Now().Add(f.retry.Next())
	}
}

// wait waits until due for a reason to claim.
func (f *fetcher) wait(stop context.Context, due time.Time) {
	if due != f.due { // setting a timer costs more than all else
		f.timer.Stop()
		if f.due = due; !due.IsZero() {
			f.timer.Reset(time.Until(due))
		}
	}
	select {
	case <-stop.Done():
	case <-f.timer.C:
		f.due = time.Time{}
	case <-f.notices.inserted:
		f.look = true
	case <-f.changed:
		f.look = true
		f.claims.rest.end()
	case <-f.notices.listens:
		f.look, f.sleep.unsure = true, true // the server may have lost our mark
		f.claims.rest.end()
		if f.notices.anew.Swap(false) {
			f.news.unanswered = true
		}
		f.paused = time.Time{} // the database is available again
	case a := <-f.advice:
		f.follow(a)
	case a := <-f.claims.answers:
		f.conclude(f.claims.take(stop, a))
	case <-f.claims.slack():
	case s := <-f.settled:
		f.noteSettled(s)
	}
}

func (f *fetcher) follow(a advice) {
	if f.drained != a.drained {
		f.drained, f.look = a.drained, true
		what := "worker claims jobs again"
		if a.drained {
			what = "worker is drained, it claims no more jobs"
		}
		f.logger.Info(what)
	}
	f.isOver = f.isOver || f.drained && f.once && f.held.n == 0
	f.suspects.note(a.aloneWaits)
	if a.aloneWaits || a.drained {
		f.claims.floodOf = nil
	}
}

func (f *fetcher) takeNews() {
	for {
		select {
		case s := <-f.settled:
			f.noteSettled(s)
		case a := <-f.advice:
			f.follow(a)
		default:
			return
		}
	}
}

func (f *fetcher) noteSettled(s settlement) {
	f.held.remove(s.jobs)
	f.look = f.look || s.queue || f.once
	f.suspects.noteSettled()
	f.claims.rest.ended(s.jobs)
	for _, job := range s.jobs {
		if job.hold.streak != nil {
			f.giveBack(f.backlog.settled(job))
		}
	}
}

// lostClaims is the source that returns to the queue the jobs locked in the worker's name that it does not know of:
// after a claim without an answer, and after a failover to a server that lacks the commits of their outcomes. The
// server may execute such a claim some time after the connection broke, so the worker checks twice.
type lostClaims struct {
	*intake
	now   bool
	again time.Time // when to check again, zero for never
}

func (l *lostClaims) tick(now time.Time) time.Time {
	if l.news.unanswered {
		l.news.unanswered = false
		l.now, l.again = true, now.Add(callTimeout)
	}
	if !l.again.IsZero() && !now.Before(l.again) {
		l.now, l.again = true, time.Time{}
	}
	return l.again
}

func (l *lostClaims) pending() bool { return l.news.unanswered || l.now || !l.again.IsZero() }

func (l *lostClaims) ready() bool { return l.now }

// run checks once. No claim is in flight.
func (l *lostClaims) run(stop context.Context) error {
	returned, err := l.queries.returnUnknown(context.WithoutCancel(stop), l.held.ids())
	if err != nil {
		return fmt.Errorf("return jobs of a lost claim: %w", err)
	}
	l.now = false
	if returned > 0 {
		l.look = true
		l.logger.Warn("jobs of a claim without an answer returned to the queue", "jobs", returned)
	}
	return nil
}
