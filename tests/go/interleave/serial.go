package interleave

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// passesOver matches calls that skip locked rows.
var passesOver = regexp.MustCompile(`get_job|skip locked|stale_sweep|reset_stale_locks|heartbeat|make_room|cleanup`)

// serialJudge allows the outcomes of the real functions when the sessions of a world run one after the other, in any
// order. A call that skips locked rows may find any rows locked.
type serialJudge struct {
	allowed map[string]string // how each outcome came about
}

func (j *serialJudge) prepare(ctx context.Context, d *driver, w world) error {
	j.allowed = make(map[string]string)
	for _, order := range permutations(len(w.sessions)) {
		if err := d.serialFrom(ctx, w, order, nil, j.allowed); err != nil {
			return err
		}
	}
	return nil
}

func (j *serialJudge) fault(_ context.Context, _ *driver, _ world, o outcome) (string, error) {
	if _, ok := j.allowed[o.String()]; ok {
		return "", nil
	}
	return noOrder(j.allowed), nil
}

// serialFrom runs the sessions in this order; locked are the sets of rows that the first of them found locked.
func (d *driver) serialFrom(ctx context.Context, w world, order []int, locked []int, found map[string]string) error {
	if err := d.begin(ctx, w); err != nil {
		return err
	}
	for k, i := range order {
		set := 0
		if k < len(locked) {
			set = locked[k]
		} else if slices.ContainsFunc(w.sessions[i].calls, func(c call) bool { return passesOver.MatchString(c.sql) }) {
			rows, err := d.rows(ctx)
			if err != nil {
				return err
			}
			for set := 1; set < 1<<len(rows); set++ {
				if err := d.serialFrom(ctx, w, order, append(locked[:k:k], set), found); err != nil {
					return err
				}
			}
			return d.serialFrom(ctx, w, order, append(locked[:k:k], 0), found)
		} else {
			locked = append(locked[:k:k], 0)
		}
		if ok, err := d.alone(ctx, i, set); err != nil || !ok {
			return err
		}
	}
	o, err := d.outcome(ctx)
	found[o.String()] = fmt.Sprintf("order %v, locked %v", order, locked)
	return err
}

// alone runs all of a session while this set of rows is locked. It is not ok if the session waits for one of them.
func (d *driver) alone(ctx context.Context, i, set int) (ok bool, err error) {
	rows, err := d.rows(ctx)
	if err != nil {
		return false, err
	}
	if _, err := run(ctx, d.holder, "begin"); err != nil {
		return false, err
	}
	for n, row := range rows {
		if set&(1<<n) != 0 {
			if _, err := run(ctx, d.holder, row); err != nil {
				return false, fmt.Errorf("lock rows: %w", err)
			}
		}
	}
	s, ok := d.sessions[i], true
	for !s.done && !s.blocked {
		if _, err := d.step(ctx, i); err != nil {
			return false, err
		}
	}
	if s.blocked {
		ok = false
	}
	if _, err := run(ctx, d.holder, "rollback"); err != nil {
		return false, err
	}
	if ok {
		return true, nil
	}
	if err := d.settleBlocked(ctx); err != nil {
		return false, err
	}
	return false, d.finish(ctx)
}

// rows returns for each row of a job or queue the statement that locks it.
func (d *driver) rows(ctx context.Context) ([]string, error) {
	text, err := run(ctx, d.control, `
		select format('select from graphile_worker._private_jobs where id = %s for update', id) from graphile_worker._private_jobs order by id;
		select format('select from graphile_worker._private_job_queues where id = %s for update', id) from graphile_worker._private_job_queues order by id`)
	if err != nil {
		return nil, fmt.Errorf("read the rows: %w", err)
	}
	return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' }), nil
}

// permutations returns the orders of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := 0; at <= len(p); at++ {
			all = append(all, append(append(append([]int{}, p[:at]...), n-1), p[at:]...))
		}
	}
	return all
}
