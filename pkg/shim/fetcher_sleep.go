package shim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// markPolls is the duration of a worker's mark in poll intervals, and leastMark its minimum. A worker that dies
	// asleep is notified of jobs for this long.
	markPolls = 4
	leastMark = 10 * time.Second
	// backlogTime is how long all claims must have returned jobs before the worker removes its mark.
	backlogTime = time.Second

	// The pause before the next check of the transactions in flight is a quarter of the time since the youngest of them
	// was first seen, from firstPause to longPause, or a pauseShare-th of that time if this is longer. So a job is
	// found shortly after its transaction ends, and an import of an hour causes some two thousand checks.
	firstPause = 200 * time.Microsecond
	longPause  = 2 * time.Millisecond
	pauseShare = 200
)

// sleep makes sure that the fetcher may wait for notifications, although with the setting notify = idle only workers
// with a mark are notified. A producer that did not see a new mark was in flight when the mark was committed, or had
// ended before. So the fetcher searches once more then, and whenever one of the transactions in flight has ended.
type sleep struct {
	queries      *queries
	pollInterval time.Duration
	lasting      time.Duration // duration of a mark; 0 without a listener

	unsure   bool                // jobs may have been added without a notification although a claim sets no new mark
	emptyAt  time.Time           // when the last claim was empty; zero without a mark
	busyAt   time.Time           // when a claim returned jobs for the first time after that
	markedAt time.Time           // when the claim was sent that set the mark
	inFlight map[int64]time.Time // transactions that may add jobs without a notification, and when they were first seen
	lookAt   time.Time           // when to check whether one of them has ended
}

func newSleep(q *queries, pollInterval time.Duration, listens bool) *sleep {
	s := &sleep{queries: q, pollInterval: pollInterval}
	if listens {
		s.lasting = max(leastMark, markPolls*pollInterval)
	}
	s.unsure = true // the mark of an earlier worker with the same id may exist
	return s
}

// fall is called after an empty claim, which was sent at a given time and marked the worker; newMark reports whether
// the mark is new. It returns whether to claim once more at once.
func (s *sleep) fall(ctx context.Context, sent time.Time, newMark bool) (again bool, err error) {
	s.busyAt = time.Time{}
	if s.lasting == 0 {
		return false, nil
	}
	marked := !s.emptyAt.IsZero()
	if marked && time.Since(s.emptyAt) > s.lasting/2 {
		s.unsure = true // the mark may have expired, and another value of the setting may be why there is no new one
	}
	if marked || newMark {
		s.emptyAt = time.Now()
	}
	if newMark {
		// A mark is renewed after half of its time, and nothing is missed. A new mark before that means that the mark
		// was gone.
		isRenewal := marked && time.Since(s.markedAt) >= s.lasting/2 && time.Since(s.markedAt) < s.lasting
		s.unsure = s.unsure || !isRenewal
		s.markedAt = sent
	}
	if !s.unsure {
		return false, nil
	}
	transactions, err := s.queries.stillInFlight(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("ask for transactions in flight: %w", err)
	}
	s.unsure = false
	s.expect(transactions)
	return true, nil
}

// rise is called after a claim that returned jobs; full tells that it may have left some. It removes the mark if no
// claim was empty for some time; if the claim was not full, only if claims have returned jobs for that time.
func (s *sleep) rise(ctx context.Context, full bool) error {
	if s.busyAt.IsZero() {
		s.busyAt = time.Now()
	}
	since := s.busyAt
	if full {
		since = s.emptyAt
	}
	if s.emptyAt.IsZero() || time.Since(since) < backlogTime {
		return nil
	}
	if err := s.queries.wakeUp(ctx); err != nil {
		return fmt.Errorf("wake up: %w", err)
	}
	s.emptyAt, s.unsure = time.Time{}, true
	return nil
}

// checkAt returns when to check whether a transaction in flight has ended, zero without one.
func (s *sleep) checkAt() time.Time {
	if len(s.inFlight) == 0 {
		return time.Time{}
	}
	return s.lookAt
}

// anyEnded is called at checkAt. It returns whether to claim.
func (s *sleep) anyEnded(ctx context.Context) bool {
	before := slices.Collect(maps.Keys(s.inFlight))
	after, err := s.queries.stillInFlight(ctx, before)
	if err != nil {
		after = before // and the claim will report the error
	}
	s.expect(after)
	return err != nil || len(after) < len(before)
}

// expect waits for the end of these transactions from now on.
func (s *sleep) expect(transactions []int64) {
	now := time.Now()
	seen := make(map[int64]time.Time, len(transactions))
	var youngest time.Time
	for _, id := range transactions {
		at, known := s.inFlight[id]
		if !known {
			at = now
		}
		seen[id] = at
		if at.After(youngest) {
			youngest = at
		}
	}
	s.inFlight = seen
	s.lookAt = now.Add(min(pauseAt(now.Sub(youngest)), s.pollInterval))
}

func pauseAt(age time.Duration) time.Duration {
	return max(firstPause, min(age/4, longPause), age/pauseShare)
}
