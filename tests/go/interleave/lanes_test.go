package interleave

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// noLanes removes all that a world with limits may have left. Truncated, because functions look at the sizes of the
// files.
const noLanes = empty + `
	truncate graphile_worker._gw_limits, graphile_worker._gw_gates, graphile_worker._gw_lanes, graphile_worker._gw_gate_ends,
	         graphile_worker._gw_queued_lanes, graphile_worker._gw_pauses, graphile_worker._gw_limit_changes;`

// The parts of worlds with limits.
const (
	only     = `select graphile_worker.set_limit('one', tasks => array['a'], max_running => 1);`
	keyed    = `select graphile_worker.set_limit('keyed', tasks => array['a'], by => 'payload:k', max_running => 1, total_running => 2);`
	double   = `select graphile_worker.set_limit('one', tasks => array['a'], max_running => 2);`
	crossing = only + `select graphile_worker.set_limit('both', tasks => array['a', 'b'], max_running => 2);`
	rated    = `select graphile_worker.set_limit('rated', tasks => array['a'], rate => 1, per => '40 milliseconds');`
	fair     = `select graphile_worker.set_limit('fair', tasks => array['a'], by => 'payload:k', total_running => 1, fair => true);`
	jobA     = `select graphile_worker.add_job('a', '{"k": 1}', run_at => '2020-01-01');`
	jobA2    = `select graphile_worker.add_job('a', '{"k": 2}', run_at => '2020-01-02');`
	jobB     = `select graphile_worker.add_job('b', '{"k": 1}', run_at => '2020-01-03');`
	later    = `select graphile_worker.add_job('a', '{"k": 1}', run_at => '2020-01-04', priority => 1);`
	queued   = `select graphile_worker.add_job(task, '{"k": 1}', 'q', '2020-01-02') from unnest(array['a', 'b']) as task;`
	runs     = `select from graphile_worker.get_job('w0');`
	together = `select from graphile_worker.get_job_batch('w0', batch_size => 9);`
	looked   = `select from graphile_worker.get_job_batch('w0', batch_size => 9, now => '2019-01-01');`
	idled    = runs + `select graphile_worker.complete_job('w0', j.id) from graphile_worker._private_jobs as j; select graphile_worker._gw_sweep_limits();
		update graphile_worker._gw_lanes set served_at = '-infinity'; update graphile_worker._gw_gates set served_at = '-infinity';`
)

var lanePlaces = map[string]string{
	"no limit":       noLanes + jobA + jobA2 + jobB,
	"limit":          noLanes + only + jobA + jobA2 + jobB,
	"limit, running": noLanes + only + jobA + jobA2 + jobB + later + runs,
	"limit, full":    noLanes + double + jobA + jobA2 + later + together + jobA,
	"plain jobs":     noLanes + jobA + jobA2 + jobB + only,
	"keys, running":  noLanes + keyed + jobA + jobA2 + later + runs,
	"keys, waiting":  noLanes + keyed + jobA + jobA2 + later + jobA + together + looked,
	"crossing":       noLanes + crossing + jobA + jobA2 + jobB + runs,
	"rate":           noLanes + rated + jobA + jobA2 + jobB,
	"paused":         noLanes + only + jobA + jobA2 + `select graphile_worker.pause(limit_name => 'one');`,
	"paused by task": noLanes + jobA + jobA2 + jobB + `select graphile_worker.pause(task => 'a');`,
	"all are paused": noLanes + only + jobA + jobB + `select graphile_worker.pause();`,
	"paused queue":   noLanes + only + jobA + queued + `select graphile_worker.pause(queue => 'q');`,
	"keys, idle":     noLanes + keyed + jobA + idled,
	"limit, idle":    noLanes + only + jobA + idled + jobA + jobA2 + jobB,
	"fair":           noLanes + fair + jobA + jobA2 + jobB,
	"fair, running":  noLanes + fair + jobA + jobA2 + later + runs,
	"queue":          noLanes + only + queued + jobA2,
	"queue, running": noLanes + only + queued + jobA2 + runs,
	"dropped": noLanes + keyed + jobA + jobA2 + later + together + looked +
		`select graphile_worker.drop_limit('keyed');`,
}

var laneCalls = map[string]string{
	"claim":        `select id from graphile_worker.get_job('w1')`,
	"claim many":   `select id from graphile_worker.get_job_batch('w2', batch_size => 5)`,
	"claim more":   `select id from graphile_worker.get_job_batch('w3', batch_size => 5, queue_batch => 3)`,
	"add":          jobA,
	"add queued":   queued,
	"add a batch":  `select id from graphile_worker.add_jobs(array[('a', '{"k": 1}', null, '2020-01-01', null, null, null, null)::graphile_worker.job_spec, ('b', '{}', null, null, null, 'x', null, null)::graphile_worker.job_spec])`,
	"add by key":   `select id from graphile_worker.add_job('a', '{"k": 2}', job_key => 'k', job_key_mode => 'preserve_run_at')`,
	"complete":     `select graphile_worker.complete_job('w0', 1)`,
	"late":         `select graphile_worker.complete_job('w0', 1, (select at from interleave.lease))`,
	"complete two": `select from graphile_worker.complete_job_batch('w0', array[1, 2])`,
	"claim's end":  `select graphile_worker._gw_complete_claim('w0', array[1], (select at from interleave.lease))`,
	"fail":         `select from graphile_worker.fail_job('w0', 1, 'broken')`,
	"return":       `select from graphile_worker.return_job('w0', 1)`,
	"renew":        `select from graphile_worker.renew_leases('w0', array[1], array[(select graphile_worker._gw_lease(j.locked_at) from graphile_worker._private_jobs as j where j.id = 1)], older_than => '0')`,
	"unlock":       `select graphile_worker.force_unlock_workers(array['w0'])`,
	"reschedule":   `select from graphile_worker.reschedule_jobs(array[2], run_at => '2020-01-05')`,
	"remove":       `delete from graphile_worker._private_jobs where id = 1`,
	"limited":      `select graphile_worker.rate_limited('w0', 1, null, '10 milliseconds')`,
	"pause":        `select graphile_worker.pause(task => 'a')`,
	"pause all":    `select graphile_worker.pause()`,
	"pause queue":  `select graphile_worker.pause(queue => 'q')`,
	"resume queue": `select graphile_worker.resume(queue => 'q')`,
	"sweep":        `select graphile_worker._gw_sweep_limits()`,
	"hide":         `select graphile_worker._gw_sweep_pauses()`,
}

const resumed = `select graphile_worker.resume(limit_name => 'one'), graphile_worker.resume(limit_name => 'keyed'), graphile_worker.resume(task => 'a'), graphile_worker.resume(queue => 'q'), graphile_worker.resume()`

func laneWorld(where string, sessions ...string) world {
	w := world{name: where + ": " + strings.Join(sessions, ", "), setup: lanePlaces[where]}
	for _, text := range sessions {
		sql := laneCalls[text]
		if w.setup == "" || sql == "" {
			panic(w.name)
		}
		w.sessions = append(w.sessions, transaction{calls: []call{{name: text, sql: sql}}})
	}
	return w
}

// laneWorlds returns a world for each place and each two calls if all worlds are to run, and those where most can go
// wrong.
func laneWorlds() (all []world) {
	all = []world{
		laneWorld("limit", "claim", "claim many"),
		laneWorld("limit, idle", "claim", "claim many"),
		laneWorld("limit, running", "claim", "complete"),
		laneWorld("limit, running", "late", "unlock"),
		laneWorld("limit, running", "renew", "claim"),
		laneWorld("limit", "claim more", "claim many"),
		laneWorld("limit, full", "complete two", "claim more"),
		laneWorld("limit, full", "claim's end", "unlock", "claim"),
		laneWorld("plain jobs", "claim", "claim many"),
		laneWorld("plain jobs", "claim", "add by key"),
		laneWorld("crossing", "complete", "claim many"),
		laneWorld("keys, running", "fail", "claim many"),
		laneWorld("keys, waiting", "complete", "claim many"),
		laneWorld("keys, waiting", "complete two", "claim", "claim many"),
		laneWorld("fair", "claim", "claim many", "add"),
		laneWorld("fair, running", "complete", "claim many"),
		laneWorld("limit, running", "claim", "complete", "claim many"),
		laneWorld("limit, running", "limited", "claim"),
		laneWorld("keys, idle", "sweep", "add"),
		laneWorld("keys, idle", "sweep", "add", "claim"),
		laneWorld("keys, waiting", "sweep", "remove", "claim"),
		laneWorld("no limit", "pause", "claim", "hide"),
		laneWorld("queue", "claim", "claim many"),
		laneWorld("queue, running", "complete", "claim many"),
		laneWorld("queue, running", "complete", "pause queue", "claim"),
		laneWorld("paused queue", "resume queue", "claim", "add queued"),
		laneWorld("dropped", "claim", "claim many"),
		laneWorld("dropped", "sweep", "claim", "complete"),
	}
	if budget() != 0 {
		return all
	}
	for where := range lanePlaces {
		for a := range laneCalls {
			for b := range laneCalls {
				// A queue whose running job is deleted by hand stays locked until somebody looks for stale locks.
				if a <= b && !(strings.Contains(where, "queue") && (a == "remove" || b == "remove")) {
					all = append(all, laneWorld(where, a, b))
				}
			}
		}
	}
	return all
}

func TestLanesAreNeverOverfullAndNoJobIsLost(t *testing.T) {
	checkAll(t, laneWorlds(), everyOrderOfLanes(t))
}

// everyOrderOfLanes runs a world in every order, and checks its limits after each.
func everyOrderOfLanes(t *testing.T) checker {
	return func(d *driver, w world, _ *rand.Rand, _ ...judge) (findings []*finding, did tally, err error) {
		steps, runs, orders := d.steps, d.runs, 0
		err = d.explore(t.Context(), w, *mostFlag, func(order []int) error {
			orders++
			o, err := d.outcome(t.Context())
			if err != nil {
				return err
			}
			fault, err := judgeLanes(t.Context(), d)
			if fault != "" && len(findings) == 0 {
				findings = append(findings, &finding{w, fault, o, append([]int{}, order...), d.trace, 1})
			}
			return err
		})
		if err != nil {
			err = fmt.Errorf("%s: %w", w.name, err)
		}
		return findings, tally{1, orders, d.runs - runs, d.steps - steps}, err
	}
}

// running is a limit's jobs that run, by the key of the limit: computed from the jobs, not from gates.
const running = `
	with limited as (
	  select i.name, coalesce((select g.max_running from graphile_worker._gw_gates as g where g.limit_id = i.id and g.key = j.payload ->> 'k'), i.max_running) as max_running, i.total_running, j.id, j.locked_at, case when i.by is not null then j.payload ->> 'k' else '' end as key
	    from graphile_worker._gw_limits as i
	    join graphile_worker._private_tasks as t on t.identifier = any (i.tasks)
	    join graphile_worker._private_jobs as j on j.task_id = t.id
	), held as (
	  select l.name, l.key, min(l.max_running) as most, count(l.locked_at) as running from limited as l group by l.name, l.key
	  union all
	  select l.name, null, min(l.total_running), count(l.locked_at) from limited as l group by l.name
	)`

// judgeLanes lets a worker repeatedly claim all jobs that it may, completes the running jobs one by one, and returns
// what is wrong.
func judgeLanes(ctx context.Context, d *driver) (string, error) {
	ask := func(sql string) (string, error) {
		text, err := run(ctx, d.control, sql)
		return strings.TrimSpace(text), err
	}
	over := running + ` select format('the limit %s, %s, has %s jobs at once', h.name, h.key, h.running) from held as h where h.running > h.most limit 1`
	overfull, err := ask(over)
	if err != nil {
		return "", err
	}
	if overfull != "" {
		return overfull, nil
	}
	if _, err := ask(resumed); err != nil {
		return "", err
	}
	if removesRows(d.world) { // nobody tells the gates of it: a heartbeat counts them anew
		if _, err := ask(laneCalls["sweep"]); err != nil {
			return "", err
		}
	}
	for range 30 {
		if fault, err := claimAll(ctx, ask); fault != "" || err != nil {
			return fault, err
		}
		if fault, err := ask(over); fault != "" || err != nil {
			return fault, err
		}
		left, err := ask("select count(*) from graphile_worker._private_jobs where locked_at is not null or is_available and run_at <= now()")
		if err != nil {
			return "", err
		}
		if left == "0" {
			return "", nil
		}
		if _, err := ask(`select graphile_worker.complete_job(j.locked_by, j.id)
			from (select * from graphile_worker._private_jobs where locked_at is not null order by id limit 1) as j`); err != nil {
			return "", err
		}
	}
	return "the jobs do not come to an end", nil
}

// claimAll claims all jobs that may be claimed, and returns the due jobs that were not claimed although no limit holds
// them back.
func claimAll(ctx context.Context, ask func(string) (string, error)) (string, error) {
	for idle := 0; idle < 150; {
		got, err := ask(`select id from graphile_worker.get_job('drain')`)
		if err != nil {
			return "", err
		}
		if got != "" {
			idle = 0
			continue
		}
		soon, err := ask(`select coalesce(graphile_worker.next_run_at() < clock_timestamp() + interval '1 second', false)`)
		if err != nil || soon == "f" {
			lost := ""
			if err == nil {
				lost, err = ask(running + ` select format('job %s is due, and no claim takes it', j.id)
					from graphile_worker._private_jobs as j
				   where j.is_available and j.run_at <= now()
				     and not exists (select from limited as l join held as h on h.name = l.name and coalesce(h.key, l.key) = l.key
				                      where l.id = j.id and h.running >= h.most)
				     and not (j.job_queue_id > 0
				              and exists (select from graphile_worker._private_jobs as o
				                           where o.job_queue_id = j.job_queue_id
				                             and (o.locked_at is not null or o.is_available and (o.priority, o.run_at, o.id) < (j.priority, j.run_at, j.id))))
				   limit 1`)
			}
			return lost, err
		}
		idle++
		timer := time.NewTimer(10 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", ctx.Err()
		}
	}
	return "next_run_at says that there is a job, and no claim takes it", nil
}

// removesRows reports whether a world deletes jobs by hand.
func removesRows(w world) bool {
	return slices.ContainsFunc(w.sessions, func(t transaction) bool { return t.calls[0].name == "remove" })
}

// Each rule that prevents lost jobs and overfull lanes in claims and outcomes is necessary.
func TestMistakesInLanesAreFound(t *testing.T) {
	for _, m := range []struct {
		mutant
		world world
	}{
		{mutant{name: "an end tells no gate", function: "_gw_release_gates", sound: "where j.queue_id <= -16",
			broken: "where false"},
			laneWorld("limit, running", "complete", "claim")},
		{mutant{name: "an end of a job in a queue tells no gate", function: "_gw_release_gates",
			sound: "where j.queue_id > 0", broken: "where false"},
			laneWorld("queue, running", "complete", "claim many")},
		{mutant{name: "jobs of queues pass no gate", function: "_gw_queue_candidates",
			sound: "coalesce(l.lane_id, 0) end, l.gates", broken: "coalesce(l.lane_id, 0) end, '{}'"},
			laneWorld("queue", "claim", "claim many")},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			d := newTestDriverOf(t, m.apply)
			findings, did, err := everyOrderOfLanes(t)(d, m.world, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(findings) == 0 {
				t.Errorf("%s: not found in %s", m.world.name, did)
			}
		})
	}
}
