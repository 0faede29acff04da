package interleave

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A lockOrder records the order in which sessions have locked rows: for each kind of row, by the kinds that they held
// already, the first world in which this happened. Locks for key share are kinds of their own, because they only wait
// for deletes. Statements that skip locked rows do not wait, and do not count.
type lockOrder map[string]map[string]string

// note adds the locks of a step, with those that its transaction held before.
func (l lockOrder) note(held, did, may footprint, where string) {
	before, skips := kinds(held), tablesOf(may.skips)
	for kind := range kinds(did) {
		if table := strings.TrimSuffix(kind, keyShare); skips[table] || before[kind] {
			continue
		}
		for h := range before {
			if l[h] == nil {
				l[h] = make(map[string]string)
			}
			if l[h][kind] == "" {
				l[h][kind] = where
			}
		}
	}
}

const keyShare = " for key share"

func kinds(f footprint) set {
	found := tablesOf(f.rows)
	for table := range tablesOf(f.shared) {
		found[table+keyShare] = true
	}
	return found
}

func (l lockOrder) merge(o lockOrder) {
	for held, kinds := range o {
		if l[held] == nil {
			l[held] = make(map[string]string)
		}
		maps.Copy(l[held], kinds)
	}
}

// cycle returns kinds of rows, each of which was locked by a session that held the previous one, and the first also by
// a session that held the last, with the worlds; nil if there is no cycle.
func (l lockOrder) cycle() (path []string) {
	done := set{}
	var visit func(kind string, trail []string) []string
	visit = func(kind string, trail []string) []string {
		if at := slices.Index(trail, kind); at >= 0 {
			return append(slices.Clone(trail[at:]), kind)
		}
		if done[kind] {
			return nil
		}
		trail = append(slices.Clone(trail), kind)
		for _, next := range slices.Sorted(maps.Keys(l[kind])) {
			if strings.HasSuffix(next, keyShare) { // only cleanup deletes such rows, and it does not wait
				continue
			}
			if found := visit(next, trail); found != nil {
				return found
			}
		}
		done[kind] = true
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(l)) {
		if found := visit(kind, nil); found != nil {
			for n, held := range found[:len(found)-1] {
				path = append(path, fmt.Sprintf("%s, then %s in %s", held, found[n+1], l[held][found[n+1]]))
			}
			return path
		}
	}
	return nil
}
