package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// loopTime returns for how long sessions run jobs.
func (b *bench) loopTime(whole time.Duration) time.Duration {
	if b.Quick {
		return whole / 20
	}
	return whole
}

// claimers are sessions that run jobs at the same time.
type claimers []*session

// claimers opens sessions, each of which runs a few batches of n jobs.
func (db *database) claimers(ctx context.Context, count, n int) (all claimers, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close(ctx))
		}
	}()
	for range count {
		s, err := db.session(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, s)
		if _, err := s.loop(ctx, n, warmUp*n, time.Time{}); err != nil {
			return all, err
		}
	}
	return all, nil
}

// start lets each session run batches of up to n jobs until end. The function that it returns waits for them.
func (all claimers) start(ctx context.Context, n int, end time.Time) (wait func() ([]loopResult, error)) {
	results, errs := make([]loopResult, len(all)), make([]error, len(all))
	var group sync.WaitGroup
	for i, s := range all {
		group.Go(func() { results[i], errs[i] = s.loop(ctx, n, 0, end) })
	}
	return func() ([]loopResult, error) {
		group.Wait()
		return results, errors.Join(errs...)
	}
}

func (all claimers) close(ctx context.Context) error {
	errs := make([]error, len(all))
	for i, s := range all {
		errs[i] = s.close(ctx)
	}
	return errors.Join(errs...)
}

// loopResult counts the claims that returned a job and those that did not.
type loopResult struct{ jobs, vain int }

// loop claims and completes batches of up to n jobs until end, or until it has run most jobs.
func (s *session) loop(ctx context.Context, n, most int, end time.Time) (r loopResult, err error) {
	for (most == 0 || r.jobs < most) && (most > 0 || time.Now().Before(end)) {
		jobs, err := s.claim(ctx, n, nil)
		if err != nil {
			return r, err
		}
		if len(jobs) == 0 {
			r.vain++
			continue
		}
		if err := s.complete(ctx, jobs); err != nil {
			return r, err
		}
		r.jobs += len(jobs)
	}
	return r, nil
}
