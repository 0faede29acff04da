package interleave

import (
	"fmt"
	"math/rand/v2"
)

// drawer draws calls.
type drawer struct {
	*rand.Rand
	pending *[]operation // what to make next
}

func one[E any](d drawer, of ...E) E { return of[d.IntN(len(of))] }

func (d drawer) task() string  { return one(d, "a", "a", "b") }
func (d drawer) queue() string { return one(d, "", "", "q", "r") }
func (d drawer) worker() string {
	return one(d, "w1", "w1", "w2", "w3", "w9")
}

// past is a time in the past.
func (d drawer) past() moment { return newYear + moment(d.IntN(4))*hour }

func (d drawer) runAt() moment { return one(d, 0, d.past(), d.past(), d.past(), 4102444800*second) }

func (d drawer) spec() jobSpec {
	spec := jobSpec{task: d.task(), queue: d.queue(), runAt: d.runAt(), maxAttempts: one(d, 0, 1, 1, 2),
		priority: one(d, 0, 0, 1, -1)}
	spec.payload = fmt.Sprintf(one(d, `{"n": %d}`, `[%d]`, `[%d]`, `"%d"`), d.IntN(1000))
	if d.IntN(3) > 0 {
		spec.key = one(d, "k", "l", "m")
		spec.mode = one(d, "", "replace", "preserve_run_at", "unsafe_dedupe")
	}
	if d.IntN(4) == 0 {
		spec.flags = one(d, []string{"x"}, []string{"y", "x"}, []string{})
	}
	return spec
}

func (d drawer) claimer() claimer {
	return claimer{worker: d.worker(), tasks: one(d, nil, nil, []string{"a"}, []string{"b", "c"}),
		forbidden: one(d, nil, nil, nil, []string{"x"})}
}

// ids returns ids of jobs, and some that never were.
func (d drawer) ids(s *state) []int64 {
	var ids []int64
	for id := range s.LastID + 1 {
		if s.Jobs[id+1] != nil && d.IntN(3) == 0 || d.IntN(int(s.LastID)+10) == 0 {
			ids = append(ids, id+1)
		}
	}
	if ids == nil {
		ids = []int64{s.LastID + 1}
	}
	return ids
}

// holder names what a worker holds, and sometimes what it does not.
func (d drawer) holder(s *state) holder {
	h := holder{worker: d.worker(), ids: []int64{}}
	withLeases := d.IntN(2) == 0
	if withLeases {
		h.leases = []moment{}
	}
	for _, id := range d.heldIDs(s, h.worker) {
		h.ids = append(h.ids, id)
		if withLeases {
			lease := moment(12345)
			if j := s.Jobs[id]; j != nil && j.LockedAt != 0 && d.IntN(5) > 0 {
				lease = j.LockedAt
			}
			h.leases = append(h.leases, lease)
		}
	}
	return h
}

func (d drawer) heldIDs(s *state, worker string) (ids []int64) {
	for id := range s.LastID + 2 {
		j := s.Jobs[id]
		isHeld := j != nil && j.LockedBy == worker
		if isHeld && d.IntN(3) > 0 || d.IntN(12) == 0 {
			ids = append(ids, id)
		}
	}
	if ids == nil {
		ids = []int64{s.LastID + 1}
	}
	return ids
}

// first leaves one job.
func (h holder) first() holder {
	h.ids = h.ids[:1]
	if h.leases != nil {
		h.leases = h.leases[:1]
	}
	return h
}

// operation draws a call that may matter in a state.
func (d drawer) operation(s *state) operation {
	if len(*d.pending) > 0 {
		next := (*d.pending)[0]
		*d.pending = (*d.pending)[1:]
		return next
	}
	switch d.IntN(44) {
	case 0, 1, 2, 3, 4, 5:
		return addJob(d.spec())
	case 6, 7:
		specs := []jobSpec{d.spec(), d.spec(), d.spec()}[:1+d.IntN(3)]
		for i := range specs {
			specs[i].mode = ""
		}
		return addJobs{specs, d.IntN(2) == 0}
	case 8:
		return removeJob{one(d, "k", "l", "m")}
	case 9, 10, 11:
		return getJobBatch{d.claimer(), 1 + d.IntN(4), d.IntN(4)}
	case 12, 13:
		return getJob{d.claimer()}
	case 14:
		return getJobAlone{d.claimer(), d.IntN(2) == 0}
	case 15:
		return makeRoom{claimer{tasks: d.claimer().tasks}}
	case 16, 17:
		return one(d, complete{d.holder(s), false}, complete{d.holder(s).first(), true})
	case 18, 19:
		c := fail{holder: d.holder(s), message: "broken", payload: one(d, "", `{"again": 1}`),
			permanent: d.IntN(4) == 0}
		if d.IntN(2) == 0 {
			c.holder, c.single = c.holder.first(), true
		}
		return c
	case 20, 21:
		c := giveBack{holder: d.holder(s), in: one(d, 0, 0, minute)}
		if d.IntN(2) == 0 {
			c.holder, c.single = c.holder.first(), true
		}
		return c
	case 22:
		h := d.holder(s)
		if h.leases == nil {
			h.leases = make([]moment, len(h.ids))
			for i := range h.leases {
				h.leases[i] = 12345
			}
		}
		return one[operation](d, renew{h, one(d, 0, hour)}, heartbeat{h})
	case 23:
		return one[operation](d, completeJobs{d.ids(s)}, failJobs{d.ids(s), one(d, "", "gone")})
	case 24:
		return cancelJobs{d.ids(s), one(d, "", "no")}
	case 25:
		c := reschedule{ids: d.ids(s), runAt: d.runAt(), priority: one(d, 0, 1), maxAttempts: one(d, 0, 2, 3)}
		if n := d.IntN(4); n < 3 {
			c.attempts = &n
		}
		return c
	case 26:
		return retryJobs{d.ids(s)}
	case 27:
		return one[operation](d, unlockWorkers{[]string{d.worker()}}, cleanup{}, stale{}, tidy{})
	case 28:
		return one[operation](d, register{d.worker(), one(d, []string{}, []string{"a"}, []string{"b"})},
			register{d.worker(), []string{}}, deregister{d.worker()})
	case 29, 30, 31:
		return d.age(s)
	case 32, 33:
		return heartbeat{holder{"w9", []int64{}, []moment{}}}
	case 34:
		return d.crash()
	case 35, 36:
		if len(s.Suspects) > 0 {
			return one[operation](d, getJobAlone{claimer{worker: d.worker()}, d.IntN(2) == 0}, makeRoom{},
				getJob{claimer{worker: d.worker()}}, due{})
		}
	case 37, 38, 39, 40, 41, 42:
		return d.decision()
	}
	return d.cron()
}

// decision draws a call that decides by a key, or lets time pass for these calls.
func (d drawer) decision() operation {
	spec := d.spec()
	spec.key, spec.mode = one(d, "k", "l", "m"), ""
	switch d.IntN(4) {
	case 0:
		return once(spec)
	case 1:
		spec.runAt = 0
		return debounce{spec, d.IntN(3) > 0}
	case 2:
		spec.runAt = 0
		return throttle(spec)
	}
	return agedRecords{one(d, 5*minute, 15*minute, 25*minute, 2*hour)}
}

// agedRecords makes the calls that decide by a key so much older.
type agedRecords struct{ by moment }

func (c agedRecords) sql() string {
	return "update graphile_worker._gw_keyed_calls set began_at = began_at - " + intervalLiteral(c.by) +
		", not_before = not_before - " + intervalLiteral(c.by) + ", kept_until = kept_until - " + intervalLiteral(c.by)
}

func (c agedRecords) apply(s *state, _ env) answer {
	for _, r := range s.Records {
		r.BeganAt -= c.by
		r.KeptUntil -= c.by
		if r.NotBefore != 0 {
			r.NotBefore -= c.by
		}
	}
	return answer{}
}

// cron draws a call about recurring jobs.
func (d drawer) cron() operation {
	identifier := one(d, "s", "t")
	switch d.IntN(7) {
	case 0, 1:
		return cronSchedule{identifier: identifier, pattern: one(d, "* * * * *", "*/5 * * * *"), task: d.task(),
			payload: one(d, "", `{"n": 20}`),
			queue:   d.queue(), key: one(d, "", "k", "l"), mode: one(d, "", "preserve_run_at")}
	case 2:
		return cronUnschedule{identifier}
	case 3:
		return cronPause{identifier, d.IntN(2) == 0}
	}
	now := 4102444800*second + moment(d.IntN(20))*minute + one(d, 0, 10*second)
	c := runCron{now: now, since: one(d, 0, now-now%minute-moment(d.IntN(3))*minute), worker: d.worker()}
	for _, identifier := range []string{"i", "s"}[:d.IntN(3)] {
		c.items = append(c.items, schedule{Identifier: identifier, Task: d.task(), Pattern: "* * * * *",
			Queue: d.queue(), Key: one(d, "", "m")})
	}
	return c
}

// crash draws the death of a worker that has just claimed, and how others detect it.
func (d drawer) crash() operation {
	c := claimer{worker: one(d, "w1", "w2")}
	died := []operation{one[operation](d, getJobBatch{c, 3, d.IntN(4)}, getJob{c}, getJobAlone{c, false},
		getJobAlone{c, true}, makeRoom{}),
		aged{c.worker, hour}, beating{"w9"}, heartbeat{holder{"w9", []int64{}, []moment{}}}, due{}}
	*d.pending = died[1 : 3+d.IntN(3)]
	return died[0]
}

// age draws effects of time: locks become old, workers become silent, and a sweep becomes due.
func (d drawer) age(*state) operation {
	switch d.IntN(6) {
	case 5:
		return due{}
	case 0:
		return aged{d.worker(), 5 * hour}
	case 1:
		return aged{d.worker(), hour}
	case 2, 3:
		return beating{"w9"}
	}
	return sweepDue{}
}

// aged makes everything that a worker did last so much older.
type aged struct {
	worker string
	by     moment
}

func (c aged) sql() string {
	by := fmt.Sprintf("interval '%d seconds'", c.by/second)
	return fmt.Sprintf(`
		with jobs as (update graphile_worker._private_jobs set locked_at = locked_at - %[1]s where locked_by = %[2]s),
		     queues as (update graphile_worker._private_job_queues set locked_at = locked_at - %[1]s where locked_by = %[2]s),
		     suspects as (update graphile_worker._gw_suspects set room_at = room_at - %[1]s where room_at is not null)
		update graphile_worker._gw_workers set last_seen_at = last_seen_at - %[1]s where id = %[2]s`, by,
		literal(c.worker))
}

func (c aged) apply(s *state, _ env) answer {
	for _, j := range s.Jobs {
		if j.LockedAt != 0 && j.LockedBy == c.worker {
			j.LockedAt -= c.by
		}
	}
	for _, q := range s.Queues {
		if q.LockedAt != 0 && q.LockedBy == c.worker {
			q.LockedAt -= c.by
		}
	}
	for _, suspect := range s.Suspects {
		if suspect.RoomAt != 0 {
			suspect.RoomAt -= c.by
		}
	}
	if w := s.Workers[c.worker]; w != nil {
		w.LastSeenAt -= c.by
	}
	return answer{}
}

// due makes all jobs due.
type due struct{}

func (c due) sql() string {
	return "update graphile_worker._private_jobs set run_at = " + timeLiteral(newYear) + " where run_at > now()"
}

func (c due) apply(s *state, e env) answer {
	for _, j := range s.Jobs {
		if j.RunAt > e.now {
			j.RunAt = newYear
		}
	}
	return answer{}
}

// beating makes a worker one that has sent heartbeats for long.
type beating struct{ worker string }

func (c beating) sql() string {
	return "update graphile_worker._gw_workers set last_seen_at = now(), beating_since = now() - interval '1 hour', recovered_at = null where id = " + literal(c.worker)
}

func (c beating) apply(s *state, e env) answer {
	if w := s.Workers[c.worker]; w != nil {
		w.LastSeenAt, w.BeatingSince, w.RecoveredAt = e.now, e.now-hour, 0
	}
	return answer{}
}

// sweepDue makes a sweep and tidying due.
type sweepDue struct{}

func (c sweepDue) sql() string {
	return "update graphile_worker._gw_turns set last_at = '-infinity' where name in ('stale_sweep', 'tidy')"
}

func (c sweepDue) apply(s *state, _ env) answer {
	s.SweptAt, s.TidiedAt = minusInfinity, minusInfinity
	return answer{}
}
