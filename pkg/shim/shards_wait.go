package shim

import (
	"context"
	"fmt"
)

// Wait waits until a job has ended, as [Client.Wait] does. If the slot of the job is moved meanwhile, it follows the job to the
// other shard; a job must not wait there for longer than a week.
func (s *Shards) Wait(ctx context.Context, job *ShardJob) error {
	name, id := job.Shard, job.ID
	var pause backoff
	for {
		if err := s.Shard(name).Wait(ctx, id); err != nil {
			return fmt.Errorf("shard %s: %w", name, err)
		}
		// It is gone: it has completed or was removed, or it was moved.
		// What is no longer in transit has arrived before.
		if onItsWay, err := s.isInTransit(ctx, name, id); err != nil {
			return err
		} else if onItsWay {
			if !pause.wait(ctx) {
				return fmt.Errorf("wait for job %d of shard %s: %w", id, name, context.Cause(ctx))
			}
			continue
		}
		next, nextID, err := s.follow(ctx, name, id)
		if err != nil || nextID == 0 {
			return err
		}
		name, id = next, nextID
	}
}

// follow returns where a job has arrived that was moved from a shard, and its id there; 0 if it was not moved.
func (s *Shards) follow(ctx context.Context, from string, id int64) (name string, newID int64, err error) {
	for _, other := range s.names {
		if other == from {
			continue
		}
		err := s.Shard(other).each(ctx, func(scan func(...any) error) error { return scan(&newID) },
			`select coalesce(S.arrived_job($1::text, $2::bigint), 0)`, from, id)
		if err != nil {
			return "", 0, fmt.Errorf("shard %s: look for job %d of shard %s: %w", other, id, from, err)
		}
		if newID != 0 {
			return other, newID, nil
		}
	}
	return "", 0, nil
}

// isInTransit returns whether a job is on its way from a shard to another one.
func (s *Shards) isInTransit(ctx context.Context, name string, id int64) (is bool, err error) {
	err = s.Shard(name).each(ctx, func(scan func(...any) error) error { return scan(&is) }, `select S.is_in_transit($1::bigint)`, id)
	if err != nil {
		return false, fmt.Errorf("shard %s: look for job %d: %w", name, id, err)
	}
	return is, nil
}
