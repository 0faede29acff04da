package reshard

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shard"
)

// Placement is where slots are according to the shards themselves.
type Placement struct {
	Owners  [shard.Count]string // the shard by slot, empty if none has it
	Version [shard.Count]int
	Moving  []Moving // slots on their way to another shard
}

// Moving is a slot on its way, in the shard that it leaves.
type Moving struct {
	Source string
	State
}

// Place joins what shards know. states are the results of [Database.States] by the name of the shard. A shard that has a slot,
// or is giving it away, knows best.
func Place(states map[string][]State) (p Placement) {
	told := make(map[int]State)
	for name, of := range states {
		for _, s := range of {
			if s.State == "away" {
				if s.Version >= told[s.Slot].Version {
					told[s.Slot] = s
				}
				continue
			}
			if s.Version >= p.Version[s.Slot] {
				p.Owners[s.Slot], p.Version[s.Slot] = name, s.Version
			}
			if s.IsMoving() {
				p.Moving = append(p.Moving, Moving{Source: name, State: s})
			}
		}
	}
	for slot, s := range told {
		if p.Owners[slot] == "" || s.Version > p.Version[slot] {
			p.Owners[slot], p.Version[slot] = s.Shard, s.Version
		}
	}
	return p
}

// Of returns the slots of a shard.
func (p Placement) Of(name string) (slots shard.Slots) {
	for slot, owner := range p.Owners {
		if owner == name {
			slots.Add(slot)
		}
	}
	return slots
}

// Join makes each database a shard: a new one gets the slots that the map gives it and that no other shard has. It returns
// notes about slots that are in another shard than in the map. It may be repeated.
func Join(ctx context.Context, m shard.Map, databases []*Database) (notes []string, err error) {
	states := make(map[string][]State, len(databases))
	for _, d := range databases {
		if states[d.Name], err = d.States(ctx); err != nil {
			return nil, err
		}
	}
	placed := Place(states)
	owners := make([]string, shard.Count)
	for slot := range owners {
		owners[slot] = placed.Owners[slot]
		if owners[slot] == "" {
			owners[slot] = ownerIn(m, slot)
		}
		if _, known := m.Find(owners[slot]); !known {
			return nil, fmt.Errorf("slot %d is in shard %s, which the map does not have; add it to the map", slot, owners[slot])
		}
	}
	for _, d := range databases {
		rows, err := d.query(ctx, `select S._gw_join_shards($1::text, $2::text[])`, d.Name, owners)
		if err != nil {
			return nil, err
		}
		isNew, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		if err != nil {
			return nil, d.explained(err)
		}
		if isNew {
			notes = append(notes, fmt.Sprintf("shard %s: joined", d.Name))
		}
	}
	return append(notes, differences(m, owners)...), nil
}

func ownerIn(m shard.Map, slot int) string {
	for _, s := range m.Shards {
		if s.Slots.Has(slot) {
			return s.Name
		}
	}
	return ""
}

// differences returns notes about slots that are in another shard than in the map.
func differences(m shard.Map, owners []string) (notes []string) {
	for _, s := range m.Shards {
		elsewhere := make(map[string]*shard.Slots)
		for _, slot := range s.Slots.List() {
			owner := owners[slot]
			if owner == s.Name {
				continue
			}
			if elsewhere[owner] == nil {
				elsewhere[owner] = new(shard.Slots)
			}
			elsewhere[owner].Add(slot)
		}
		for owner, slots := range elsewhere {
			text := strings.ReplaceAll(slots.String(), " ", "")
			notes = append(notes, fmt.Sprintf("slots %s are in shard %s; to move them to shard %s as in the map, run: gw-run shards move %s %s",
				text, owner, s.Name, text, s.Name))
		}
	}
	return notes
}
