package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// modelJudge allows the outcomes of the model for the calls one after the other, in any order in which no session comes
// before one that had ended when it began. A call that skips locked rows may skip any rows that a session which ran at
// the same time may have locked. A session that failed for a documented reason has done nothing.
type modelJudge struct {
	second  judge // judges worlds with calls that the model does not contain
	knows   bool
	world   world
	origin  origin
	initial *state
	allowed map[string]map[string]string // how each outcome came about, by what bounds the orders
}

// mayFail are the SQLSTATEs of a transaction that its caller has to run again.
var mayFail = map[string]bool{"error 40001": true, "error GWBKC": true, killed: true}

func (j *modelJudge) prepare(ctx context.Context, d *driver, w world) error {
	j.world, j.knows, j.allowed = w, true, make(map[string]map[string]string)
	for _, t := range w.sessions {
		for _, c := range t.calls {
			j.knows = j.knows && c.op != nil
		}
	}
	if !j.knows {
		return j.second.prepare(ctx, d, w)
	}
	if err := d.begin(ctx, w); err != nil {
		return err
	}
	var err error
	j.origin = d.origin
	j.initial, err = readState(ctx, d.control)
	return err
}

func (j *modelJudge) fault(ctx context.Context, d *driver, w world, o outcome) (string, error) {
	if !j.knows {
		return j.second.fault(ctx, d, w, o)
	}
	b := newBounds(w, o)
	allowed, ok := j.allowed[b.key()]
	if !ok {
		allowed = j.outcomes(b)
		j.allowed[b.key()] = allowed
	}
	text := o.String()
	for i, failed := range b.failed {
		if failed { // whatever it was answered before
			text = strings.Replace(text, sessionText(i, o.answers[i]), sessionText(i, nil), 1)
		}
	}
	if _, ok := allowed[text]; ok {
		return "", nil
	}
	return noOrder(allowed), nil
}

func reversed(order []int) []int {
	order = slices.Clone(order)
	slices.Reverse(order)
	return order
}

// bounds are the steps at which each session began and ended, and whether it failed.
type bounds struct {
	began, first, last []int // began differs from first if the first step depends on nothing that others do
	failed             []bool
}

func newBounds(w world, o outcome) bounds {
	sessions := len(w.sessions)
	b := bounds{began: make([]int, sessions), first: make([]int, sessions), last: make([]int, sessions),
		failed: make([]bool, sessions)}
	for i := range sessions {
		b.first[i], b.last[i] = slices.Index(o.order, i), len(o.order)-1-slices.Index(reversed(o.order), i)
		b.began[i] = b.first[i]
		takesSnapshot := w.sessions[i].isolation != "" // in the first step, by which all others go
		if rest := slices.Index(o.order[b.first[i]+1:], i); o.leads[i] && !takesSnapshot && rest >= 0 {
			b.first[i] += 1 + rest
		}
		b.failed[i] = len(o.answers[i]) > 0 && mayFail[o.answers[i][len(o.answers[i])-1]]
	}
	return b
}

// precedes reports whether a session had ended when another began.
func (b bounds) precedes(i, k int) bool { return b.last[i] < b.first[k] }

// missesDue reports whether session i had begun when session k ended, though it comes after it in any order. A job that
// k made due by its own clock is not due yet for a claim of i, which goes by the time at which its transaction began.
func (b bounds) missesDue(i, k int) bool { return b.precedes(k, i) && b.began[i] < b.last[k] }

func (b bounds) key() string {
	var key strings.Builder
	for i := range b.first {
		fmt.Fprintf(&key, "%t", b.failed[i])
		for k := range b.first {
			fmt.Fprintf(&key, " %t %t", b.precedes(i, k), b.missesDue(i, k))
		}
	}
	return key.String()
}

// outcomes returns what may come of the calls.
func (j *modelJudge) outcomes(b bounds) map[string]string {
	found := make(map[string]string)
	touched := j.touched()
	for _, order := range permutations(len(j.world.sessions)) {
		order = slices.DeleteFunc(order, func(i int) bool { return b.failed[i] })
		fits := true
		for at, i := range order {
			fits = fits && !slices.ContainsFunc(order[at:], func(k int) bool { return b.precedes(k, i) })
		}
		if fits {
			e := env{now: j.initial.ReadAt, clock: j.initial.ReadAt, lease: j.origin.lease}
			j.follow(order, b, touched, j.initial, e, make([][]string, len(j.world.sessions)), "in order", found)
		}
	}
	return found
}

// follow runs the rest of an order, each session with all sets of rows that it may pass over.
func (j *modelJudge) follow(order []int, b bounds, touched []map[string]bool, s *state, e env, answers [][]string,
	how string, found map[string]string) {
	if len(order) == 0 {
		o := outcome{answers: answers, tables: s.text(j.origin)}
		if _, ok := found[o.String()]; !ok {
			found[o.String()] = how
		}
		return
	}
	i := order[0]
	var rows []string
	for k := range j.world.sessions {
		if k == i || b.precedes(i, k) || b.precedes(k, i) && !b.missesDue(i, k) {
			continue
		}
		for row := range touched[k] {
			if b.precedes(k, i) && !isOf(row, "job") {
				continue
			}
			if passes(j.world.sessions[i], row) && !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	for set := range 1 << len(rows) {
		e.held = make(map[string]bool)
		for n, row := range rows {
			if set&(1<<n) != 0 {
				e.held[row] = true
			}
		}
		next := s.clone()
		given := slices.Clone(answers)
		given[i] = next.transact(j.world.sessions[i], e)
		j.follow(order[1:], b, touched, next, e, given, fmt.Sprintf("%s, %d passing over %v", how, i+1,
			slices.Sorted(maps.Keys(e.held))), found)
	}
}

// transact makes the calls of a transaction, and returns its answers.
func (s *state) transact(t transaction, e env) (answers []string) {
	was := s.clone()
	for _, c := range t.calls {
		a := c.op.apply(s, e)
		answers = append(answers, a.String())
		if a.code != "" {
			*s = *was
			return answers
		}
	}
	return append(answers, "")
}

// passer is a call that skips rows that others have locked.
type passer interface {
	passes(row string) bool
}

func passes(t transaction, row string) bool {
	return slices.ContainsFunc(t.calls, func(c call) bool {
		p, ok := c.op.(passer)
		return ok && p.passes(row)
	})
}

// touched returns the rows that each session may hold: those that it changes in any order, and those that it may lock
// and leave as they are.
func (j *modelJudge) touched() []map[string]bool {
	all := make([]map[string]bool, len(j.world.sessions))
	for i := range all {
		all[i] = make(map[string]bool)
	}
	e := env{now: j.initial.ReadAt, clock: j.initial.ReadAt, lease: j.origin.lease}
	for _, order := range permutations(len(j.world.sessions)) {
		s := j.initial.clone()
		for _, i := range order {
			for _, c := range j.world.sessions[i].calls {
				if h, ok := c.op.(interface{ holds(s *state) []string }); ok {
					for _, row := range h.holds(s) {
						all[i][row] = true
					}
				}
			}
			was := s.clone()
			s.transact(j.world.sessions[i], e)
			s.changedSince(was, all[i])
			was.addHeads(all[i])
		}
	}
	return all
}
