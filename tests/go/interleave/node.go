package interleave

import (
	"maps"
	"slices"
)

// node is a state of a world from which one session or another can do the next step.
type node struct {
	can   []int
	sleep map[int]deed // steps from here that lead to orders that are equivalent to ones already seen, by session
	due   []int        // the sessions whose step is to be taken from here
	tried []int        // the sessions whose step was taken from here; the last is that of the run
	did   []deed       // what these steps have done
	after []bool       // on which steps of the path the last step depends, by way of others, too
}

// newNode returns the node that the last step of a path has led to. Whatever was tried before that step, or slept, and
// does not depend on it, sleeps on: to take it now leads where it led to when it was taken first.
func newNode(path []*node, can []int) *node {
	n := &node{can: can, sleep: make(map[int]deed)}
	if len(path) > 0 {
		parent := path[len(path)-1]
		last := len(parent.tried) - 1
		asleep := maps.Clone(parent.sleep)
		for k, i := range parent.tried[:last] {
			asleep[i] = parent.did[k]
		}
		for i, did := range asleep {
			if !did.dependent(parent.did[last]) {
				n.sleep[i] = did
			}
		}
	}
	for _, i := range can {
		if !n.sleeps(i) {
			n.due = []int{i}
			break
		}
	}
	return n
}

func (n *node) sleeps(i int) bool {
	_, sleeps := n.sleep[i]
	return sleeps
}

// choose takes the next session to try.
func (n *node) choose() bool {
	for _, i := range n.can {
		if slices.Contains(n.due, i) && !n.sleeps(i) && !slices.Contains(n.tried, i) {
			n.tried = append(n.tried, i)
			return true
		}
	}
	return false
}

func (n *node) chosen() int { return n.tried[len(n.tried)-1] }

func (n *node) last() deed { return n.did[len(n.did)-1] }

// findRaces looks for the steps of a path that the last one could have come before: those of other sessions on which it
// depends, but by way of no other step. It makes due what reverses the order of both.
func findRaces(path []*node) {
	last := path[len(path)-1]
	last.after = make([]bool, len(path)-1)
	for k := len(path) - 2; k >= 0; k-- {
		if last.after[k] || !path[k].last().dependent(last.last()) {
			continue
		}
		last.after[k] = true
		for i, after := range path[k].after {
			last.after[i] = last.after[i] || after
		}
		if path[k].chosen() != last.chosen() {
			reverse(path, k)
		}
	}
}

// reverse makes due at step k of a path what leads to its last step before step k: one of the sessions that can begin
// the steps which came after step k and do not depend on it.
func reverse(path []*node, k int) {
	n := path[k]
	var others, initial []int // steps, and the sessions of those that depend on no other
	for i := k + 1; i < len(path); i++ {
		if i < len(path)-1 && path[i].after[k] {
			continue
		}
		if !slices.ContainsFunc(others, func(o int) bool { return path[i].after[o] }) {
			initial = append(initial, path[i].chosen())
		}
		others = append(others, i)
	}
	if slices.ContainsFunc(initial, func(i int) bool { return slices.Contains(n.due, i) || n.sleeps(i) }) {
		return
	}
	for _, i := range initial {
		if slices.Contains(n.can, i) {
			n.due = append(n.due, i)
			return
		}
	}
	n.due = n.can
}
