package shim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shard"
)

// route is where a call belongs: to a slot, or to any.
type route struct {
	slot  int
	isAny bool
}

// routeOf returns the route of a job.
func routeOf(shardKey, queue, key string) (route, error) {
	switch {
	case shardKey != "":
		return route{slot: shard.Slot(shardKey)}, nil
	case queue != "" && key != "" && shard.Slot(queue) != shard.Slot(key):
		return route{}, fmt.Errorf("%w: the queue %q has slot %d, the key %q slot %d; set ShardKey, such as to the name of the queue, in every call about this key",
			ErrNoRoute, queue, shard.Slot(queue), key, shard.Slot(key))
	case queue != "":
		return route{slot: shard.Slot(queue)}, nil
	case key != "":
		return route{slot: shard.Slot(key)}, nil
	}
	return route{isAny: true}, nil
}

func (s *Shards) placeOf(slot int) slotPlace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places[slot]
}

// at returns a client that adds jobs of a slot in a shard.
func (s *Shards) at(name string, slot int) *Client {
	client := NewClient(s.pools[name], s.cfg)
	client.slot = &slot
	return client
}

// do makes a call in the shard of its route. If the slot is elsewhere by now, it repeats the call there; if the slot is being
// moved, it tries again. A call of any slot that cannot connect goes to another shard. It returns the place of the last try.
func (s *Shards) do(ctx context.Context, r route, call func(*Client) error) (at Place, err error) {
	var pause backoff
	var moving error               // the last answer that the slot is being moved
	tried := make(map[string]bool) // shards that cannot be reached, for a call of any slot
	for deadline := time.Now().Add(moveTime); ; {
		at.Slot = r.slot
		if r.isAny {
			at.Slot = s.anySlot(tried)
		}
		at.Shard = s.placeOf(at.Slot).shard
		err = call(s.at(at.Shard, at.Slot))
		state := sqlstate.Of(err)
		var unconnected *pgconn.ConnectError
		switch {
		case state == "GWSLT" && time.Now().Before(deadline):
			if err := s.learn(ctx, at.Slot, at.Shard); err != nil {
				return at, err
			}
			continue
		case state == "GWSMV" && time.Now().Before(deadline):
			if pause.ceiling >= time.Second {
				pause.reset()
			}
			if moving = err; pause.wait(ctx) {
				continue
			}
			err = context.Cause(ctx)
		case r.isAny && errors.As(err, &unconnected) && ctx.Err() == nil:
			tried[at.Shard] = true
			if len(tried) < len(s.names) {
				continue
			}
		}
		if err == nil {
			return at, nil
		}
		if ctx.Err() != nil {
			err = errors.Join(moving, err)
		}
		return at, fmt.Errorf("shard %s: %w", at.Shard, err)
	}
}

// anySlot returns a random slot of a shard that was not tried.
func (s *Shards) anySlot(tried map[string]bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := rand.IntN(shard.Count)
	for n := range shard.Count {
		if slot := (first + n) % shard.Count; !tried[s.places[slot].shard] {
			return slot
		}
	}
	return first
}

// learn asks a shard that has refused a slot where the slots are, and all shards if it knows no better.
func (s *Shards) learn(ctx context.Context, slot int, from string) error {
	before := s.placeOf(slot)
	if err := s.ask(ctx, from); err != nil {
		return err
	}
	if s.placeOf(slot) != before {
		return s.checkPlace(slot)
	}
	for _, name := range s.names {
		if err := s.ask(ctx, name); err != nil {
			return err
		}
	}
	if s.placeOf(slot) == before {
		return fmt.Errorf("no shard of the map has slot %d: is the map complete? gw-run shards lists the slots", slot)
	}
	return s.checkPlace(slot)
}

func (s *Shards) checkPlace(slot int) error {
	if at := s.placeOf(slot); s.pools[at.shard] == nil {
		return fmt.Errorf("slot %d is in shard %s, which the map does not have: load the present map", slot, at.shard)
	}
	return nil
}

// ask takes what a shard knows about slots. What it says about its own slots counts more than what others have said.
func (s *Shards) ask(ctx context.Context, name string) error {
	found := make(map[int]slotPlace)
	err := NewClient(s.pools[name], s.cfg).each(ctx, func(scan func(...any) error) error {
		var slot int
		var p slotPlace
		if err := scan(&slot, &p.shard, &p.version); err != nil {
			return err
		}
		found[slot] = p
		return nil
	}, `select l.slot::integer, l.shard, l.version from S.list_shard_slots() as l`)
	if err != nil {
		return fmt.Errorf("shard %s: read its slots: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot, p := range found {
		if p.version > s.places[slot].version {
			s.places[slot] = p
		}
	}
	return nil
}
