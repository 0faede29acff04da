package shim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// markPolls is for how many poll intervals a worker is marked asleep, and leastMark for how long at least. A worker
	// that dies asleep is told of jobs for so long.
	markPolls = 4
	leastMark = 10 * time.Second
	// backlogTime is how long no claim must have been empty before the worker says that it need not be told of jobs.
	backlogTime = time.Second

	// The pause before the next look at the transactions in flight is a quarter of the time since the youngest of them was
	// first seen, from firstPause to longPause, and a pauseShare-th of that time when this is longer. So a job comes hardly
	// later than its transaction let it, and an import that takes an hour is asked for some two thousand times.
	firstPause = 200 * time.Microsecond
	longPause  = 2 * time.Millisecond
	pauseShare = 200
)

// sleep makes sure that the fetcher may wait to be told of jobs, although with the setting notify = idle nobody is told
// who is not marked asleep. Whoever added jobs without having seen a new mark was in flight when the mark was there, or
// had ended before. So the fetcher looks once more then, and whenever one of the transactions in flight has ended.
type sleep struct {
	queries      *queries
	pollInterval time.Duration
	lasting      time.Duration // of a mark; 0 where nobody listens

	unsure   bool                // whether jobs may have been added without a word although a claim makes no new mark
	emptyAt  time.Time           // when the last claim was empty; zero if we are not marked
	markedAt time.Time           // when the claim was sent that made the mark
	inFlight map[int64]time.Time // transactions that may add jobs without a word, and when we first saw them
	lookAt   time.Time           // when to see whether one of them has ended
}

func newSleep(q *queries, pollInterval time.Duration, listens bool) *sleep {
	s := &sleep{queries: q, pollInterval: pollInterval}
	if listens {
		s.lasting = max(leastMark, markPolls*pollInterval)
	}
	s.unsure = true // the mark may be there, of one who had our name
	return s
}

// fall is called after an empty claim, sent at a time, which told the database that we sleep, and whether that made a new
// mark. It returns whether to claim once more at once.
func (s *sleep) fall(ctx context.Context, sent time.Time, newMark bool) (again bool, err error) {
	if s.lasting == 0 {
		return false, nil
	}
	marked := !s.emptyAt.IsZero()
	if marked && time.Since(s.emptyAt) > s.lasting/2 {
		s.unsure = true // the mark may have been over, and that there is no new one be due to another setting
	}
	if marked || newMark {
		s.emptyAt = time.Now()
	}
	if newMark {
		// When half of its time is over, a mark is made anew and nothing is missed. Before that it must have been gone.
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

// rise is called after a claim that may have left jobs. When this has gone on for a while, we need not be told of more.
func (s *sleep) rise(ctx context.Context) error {
	if s.emptyAt.IsZero() || time.Since(s.emptyAt) < backlogTime {
		return nil
	}
	if err := s.queries.wakeUp(ctx); err != nil {
		return fmt.Errorf("wake up: %w", err)
	}
	s.emptyAt, s.unsure = time.Time{}, true
	return nil
}

// anyEnded is called at lookAt. It returns whether to claim.
func (s *sleep) anyEnded(ctx context.Context) bool {
	before := slices.Collect(maps.Keys(s.inFlight))
	after, err := s.queries.stillInFlight(ctx, before)
	if err != nil {
		after = before // and the claim will meet what is wrong
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

// pauseAt returns how long to leave transactions alone that are this old.
func pauseAt(age time.Duration) time.Duration {
	return max(firstPause, min(age/4, longPause), age/pauseShare)
}
