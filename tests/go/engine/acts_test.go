package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// act is a statement and what it does to the model, apart from what can be seen of jobs.
type act struct {
	sql   string
	model func(*model)
	// claims: it returns the ids of jobs that the claimer takes. returns: the jobs that it frees have not started.
	// beats: heartbeats follow.
	claims  *claimer
	returns bool
	ifRows  bool // the model changes only if the statement returns rows
	beats   int
}

func (a act) String() string { return strings.TrimSpace(a.sql) + ";" }

var (
	taskNames  = []string{"a", "b", "c", "d"}
	keyNames   = []string{"x", "y", "7"}
	queueNames = []string{"q", "r", "s"}
	claimers   = []claimer{
		{worker: "w1"}, {worker: "w2", tasks: []string{"a"}}, {worker: "w3", tasks: []string{"b", "c"}},
		{worker: "w4", tasks: []string{"a", "d"}, forbidden: true},
	}
)

// pick returns one of these.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func quoted(text string) string {
	if text == "" {
		return "null"
	}
	return "'" + text + "'"
}

func arrayOf(names []string) string {
	if names == nil {
		return "null"
	}
	return "'{" + strings.Join(names, ",") + "}'"
}

func someTasks(r *rand.Rand) []string {
	if r.IntN(6) == 0 {
		return nil
	}
	var some []string
	for _, task := range taskNames {
		if r.IntN(2) == 0 {
			some = append(some, task)
		}
	}
	if some == nil {
		return []string{"a"}
	}
	return some
}

// draw returns the next act. n counts them, so that jobs have names.
func draw(r *rand.Rand, m *model, n int) act {
	for {
		a := pick(r, drawAdd, drawAdd, drawAdd, drawClaim, drawClaim, drawClaim, drawEnd, drawEnd, drawEnd, drawOfJob,
			drawLimit, drawPause, drawNode, drawRaw, drawFleet)(r, m, n)
		if a.sql != "" {
			return a
		}
	}
}

func drawPayload(r *rand.Rand, n int) string {
	c := pick(r, `,"c":"x"`, `,"c":"x"`, `,"c":"y"`, `,"c":7`, `,"c":7.0`, `,"c":null`, "")
	return fmt.Sprintf(`{"n":"%d"%s}`, n, c)
}

func drawAdd(r *rand.Rand, _ *model, n int) act {
	queue, key, flags, at := "", "", "null", "now() - interval '1 hour'"
	if r.IntN(3) == 0 {
		queue = pick(r, queueNames...)
	}
	if r.IntN(5) == 0 {
		key = pick(r, "k1", "k2")
	}
	if r.IntN(3) == 0 {
		flags = pick(r, "'{t:x}'", "'{t:y}'", "'{no}'", "'{no,t:x}'")
	}
	switch r.IntN(8) {
	case 0:
		at = "now() + interval '1 hour'"
	case 1, 2:
		at = fmt.Sprintf("now() - interval '%d minutes'", r.IntN(50))
	}
	task, priority := pick(r, taskNames...), pick(r, 0, 0, 0, 1, -1)
	if r.IntN(3) == 0 && flags != "'{no,t:x}'" {
		var specs []string
		for k := range 1 + r.IntN(3) {
			specs = append(specs, fmt.Sprintf("row('%s', '%s', %s, %s, 3, null, %d, %s)::gw.job_spec",
				pick(r, taskNames...), drawPayload(r, 100*n+k), quoted(queue), at, priority, flags))
		}
		return act{sql: "select count(*) from gw.add_jobs(array[" + strings.Join(specs, ", ") + "])"}
	}
	mode := ""
	if key != "" {
		mode = ", job_key_mode => " + pick(r, "'replace'", "'preserve_run_at'", "'unsafe_dedupe'")
	}
	return act{sql: fmt.Sprintf("select gw.add_job('%s', '%s', %s, %s, %d, %s, %d, %s%s)", task, drawPayload(r, 100*n),
		quoted(queue), at, pick(r, 1, 3, 25), quoted(key), priority, flags, mode)}
}

func drawClaim(r *rand.Rand, _ *model, _ int) act {
	c := pick(r, claimers...)
	forbidden := "null"
	if c.forbidden {
		forbidden = "'{no}'"
	}
	return act{sql: fmt.Sprintf("select id from gw.get_job_batch('%s', %s, %d, %s)", c.worker, arrayOf(c.tasks),
		pick(r, 1, 1, 2, 5, 30), forbidden), claims: &c}
}

// ofJob returns what a statement selects a job by.
func ofJob(j *seen) string {
	return fmt.Sprintf("(select id from gw._private_jobs where payload ->> 'n' = '%s')", j.N)
}

// some returns a job of those that are so.
func some(r *rand.Rand, m *model, is func(*seen) bool) *seen {
	var all []*seen
	for _, j := range m.jobs {
		if is(j) {
			all = append(all, j)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(r, all...)
}

func drawEnd(r *rand.Rand, m *model, n int) act {
	j := some(r, m, (*seen).isOurs)
	if j == nil {
		return act{}
	}
	id, lease := ofJob(j), fmt.Sprintf("(select gw._gw_lease(locked_at) from gw._private_jobs where payload ->> 'n' = '%s')", j.N)
	with := fmt.Sprintf("'%s', %s, %s", j.LockedBy, id, lease)
	arrays := fmt.Sprintf("'%s', array[%s], array[%s]", j.LockedBy, id, lease)
	switch r.IntN(11) {
	case 0:
		return act{sql: "select gw.complete_job_batch(" + arrays + ")"}
	case 1:
		return act{sql: fmt.Sprintf("select gw.fail_job('%s', %s, 'broken', %s, retry_in => interval '%d')", j.LockedBy,
			id, lease, pick(r, 0, 3600))}
	case 2:
		return act{sql: fmt.Sprintf("select gw.fail_job_batch('%s', json_build_array(json_build_object('id', %s, 'lease', %s, 'message', 'm', 'retry_in', 0, 'payload', '%s'::json)))",
			j.LockedBy, id, lease, drawPayload(r, 100*n))}
	case 3:
		return act{sql: "select gw.return_job(" + with + ")", returns: true}
	case 4:
		return act{sql: "select gw.return_job_batch(" + arrays + ", run_in => interval '0')", returns: true}
	case 5:
		return act{sql: fmt.Sprintf("select gw.rate_limited_batch(%s, interval '1 day')", arrays), returns: true,
			ifRows: true, model: func(m *model) {
				for _, l := range m.limits {
					if key, ok := l.keyOf(j); ok && l.appliesTo(j.Task) && (l.by != "" || l.most > 0 || l.rate > 0 || l.total == 0) {
						l.gate(key).closed = true
					}
				}
			}}
	case 6:
		return act{sql: fmt.Sprintf("select gw.fail_job_batch('%s', json_build_array(json_build_object('id', %s, 'lease', %s, 'message', 'm', 'permanent', true)))", j.LockedBy, id, lease)}
	case 7:
		return act{sql: fmt.Sprintf("select gw.renew_leases(%s, interval '1 microsecond')", arrays)}
	default:
		return act{sql: "select gw.complete_job(" + with + ")"}
	}
}

func drawOfJob(r *rand.Rand, m *model, _ int) act {
	j := some(r, m, func(j *seen) bool { return j.LockedBy == "" })
	if j == nil {
		return act{}
	}
	array := "array[" + ofJob(j) + "]"
	switch r.IntN(8) {
	case 0:
		return act{sql: "select gw.remove_job('" + pick(r, "k1", "k2") + "')"}
	case 1:
		return act{sql: "select gw.reschedule_jobs(" + array + ", now() + interval '1 hour')"}
	case 2:
		return act{sql: "select gw.permanently_fail_jobs(" + array + ", 'x')"}
	case 3:
		return act{sql: "select gw.complete_jobs(" + array + ")"}
	case 4:
		return act{sql: "select gw.retry_jobs(" + array + ")"}
	case 5:
		return act{sql: fmt.Sprintf("select gw.reschedule_jobs(%s, now() - interval '%d minutes', priority => %d)",
			array, r.IntN(90), r.IntN(3)-1)}
	default:
		return act{sql: "select gw.reschedule_jobs(" + array + ", now() - interval '1 hour', attempts => 0)"}
	}
}

func drawLimit(r *rand.Rand, m *model, _ int) act {
	name := pick(r, "l1", "l2", "l3")
	switch r.IntN(8) {
	case 0, 1:
		return act{sql: "select gw.drop_limit('" + name + "')", model: func(m *model) {
			delete(m.limits, name)
			for p := range m.paused {
				if p.limit == name {
					delete(m.paused, p)
				}
			}
		}}
	case 2:
		key, most := pick(r, keyNames...), r.IntN(4)
		l := m.limits[name]
		if l == nil || l.by == "" {
			return act{}
		}
		max := "null"
		if most > 0 {
			max = fmt.Sprint(most)
		}
		return act{sql: fmt.Sprintf("select gw.override_lane('%s', '%s', max_running => %s)", name, key, max),
			model: func(m *model) {
				if l := m.limits[name]; l != nil && l.by != "" {
					l.gate(key).most = most
				}
			}}
	case 3:
		return act{sql: fmt.Sprintf("select gw.open_lane('%s')", name), model: func(m *model) {
			if l := m.limits[name]; l != nil {
				for _, g := range l.gates {
					g.closed = false
				}
			}
		}}
	}
	to := limit{tasks: someTasks(r), by: pick(r, "", "payload:c", "payload:c", "flag:t")}
	arguments := fmt.Sprintf("'%s', tasks => %s", name, arrayOf(to.tasks))
	if to.by != "" {
		arguments += ", by => '" + to.by + "'"
		if to.fair = r.IntN(3) == 0; to.fair {
			arguments += ", fair => true"
		}
	}
	if r.IntN(3) > 0 {
		to.most = 1 + r.IntN(3)
		arguments += fmt.Sprintf(", max_running => %d", to.most)
	}
	if to.by != "" && r.IntN(3) == 0 {
		to.total = 1 + r.IntN(3)
		arguments += fmt.Sprintf(", total_running => %d", to.total)
	}
	old := m.limits[name]
	if old != nil && old.rate > 0 || old == nil && r.IntN(4) == 0 { // what is owed without a rate is not defined
		to.rate = 1 + r.IntN(4)
		arguments += fmt.Sprintf(", rate => %d, per => interval '100 days'", to.rate)
	}
	if to.most == 0 && to.total == 0 && to.rate == 0 {
		to.most = 2
		arguments += ", max_running => 2"
	}
	return act{sql: "select gw.set_limit(" + arguments + ")", model: func(m *model) { m.setLimit(name, to) }}
}

func drawPause(r *rand.Rand, m *model, _ int) act {
	var p pause
	arguments := ""
	switch r.IntN(9) {
	case 0:
	case 1, 2, 3:
		p.task = pick(r, taskNames...)
		arguments = "'" + p.task + "'"
	case 4, 5, 6:
		p.queue = pick(r, queueNames...)
		arguments = "queue => '" + p.queue + "'"
	default:
		p.limit = pick(r, "l1", "l2", "l3")
		arguments = "limit_name => '" + p.limit + "'"
		l := m.limits[p.limit]
		if l == nil {
			return act{}
		} else if l.by != "" && r.IntN(2) == 0 {
			p.key = pick(r, keyNames...)
			arguments += ", lane => '" + p.key + "'"
		}
	}
	if !m.paused[p] && len(m.paused) < 3 && r.IntN(4) > 0 {
		return act{sql: "select gw.pause(" + arguments + ")", model: func(m *model) {
			if p.limit == "" || m.limits[p.limit] != nil {
				m.paused[p] = true
			}
		}}
	}
	if len(m.paused) == 0 {
		return act{}
	}
	p = pick(r, slices.SortedFunc(maps.Keys(m.paused),
		func(a, b pause) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })...)
	switch {
	case p.task != "":
		arguments = "'" + p.task + "'"
	case p.queue != "":
		arguments = "queue => '" + p.queue + "'"
	case p.key != "":
		arguments = fmt.Sprintf("limit_name => '%s', lane => '%s'", p.limit, p.key)
	case p.limit != "":
		arguments = "limit_name => '" + p.limit + "'"
	default:
		arguments = ""
	}
	return act{sql: "select gw.resume(" + arguments + ")", model: func(m *model) { delete(m.paused, p) }}
}

// drawNode returns a statement as Node's worker sends it.
func drawNode(r *rand.Rand, m *model, n int) act {
	running := some(r, m, func(j *seen) bool { return j.LockedBy == "node" })
	switch k := r.IntN(5); {
	case k == 0:
		return act{sql: fmt.Sprintf(`with t as (insert into gw._private_tasks (identifier) values ('%[1]s') on conflict (identifier) do update set identifier = excluded.identifier returning id)
			insert into gw._private_jobs (task_id, payload) select t.id, '%[2]s' from t`, pick(r, taskNames...),
			drawPayload(r, 100*n))}
	case k == 1:
		return act{sql: fmt.Sprintf(`with j as (
			  select jobs.job_queue_id, jobs.id from gw._private_jobs as jobs
			   where jobs.is_available = true and jobs.run_at <= now() and jobs.task_id in (select id from gw._private_tasks where identifier = '%s')
			     and (jobs.job_queue_id is null or jobs.job_queue_id in (select q.id from gw._private_job_queues as q where q.is_available = true for update skip locked))
			   order by priority, run_at limit 1 for update skip locked),
			q as (update gw._private_job_queues as q set locked_by = 'node', locked_at = now() from j where q.id = j.job_queue_id)
			update gw._private_jobs as jobs set attempts = jobs.attempts + 1, locked_by = 'node', locked_at = now() from j where jobs.id = j.id`, pick(r, taskNames...))}
	case running == nil:
		return act{}
	case k == 2:
		return act{sql: fmt.Sprintf(`with j as (
			  update gw._private_jobs set last_error = 'x', run_at = now() - interval '30 minutes', locked_by = null, locked_at = null where id = %s returning job_queue_id)
			update gw._private_job_queues as q set locked_by = null, locked_at = null from j where q.id = j.job_queue_id and q.locked_by = 'node'`, ofJob(running))}
	default:
		return act{sql: fmt.Sprintf(`with j as (delete from gw._private_jobs where id = %s returning job_queue_id)
			update gw._private_job_queues as q set locked_by = null, locked_at = null from j where q.id = j.job_queue_id and q.locked_by = 'node'`, ofJob(running))}
	}
}

// drawRaw returns what an operator does by hand, after which two heartbeats come.
func drawRaw(r *rand.Rand, m *model, _ int) act {
	j := some(r, m, func(j *seen) bool { return j.Queue == "" })
	if j == nil || r.IntN(2) == 0 {
		return act{}
	}
	is := " where id = " + ofJob(j)
	switch r.IntN(5) {
	case 0:
		return act{sql: "delete from gw._private_jobs" + is, beats: 2}
	case 1:
		return act{sql: "update gw._private_jobs set locked_by = null, locked_at = null" + is, beats: 2}
	case 2:
		return act{sql: "update gw._private_jobs set run_at = now() - interval '2 hours', priority = -3" + is, beats: 2}
	case 3:
		if j.LockedBy != "" {
			return act{}
		}
		return act{sql: fmt.Sprintf(`update gw._private_jobs set payload = '{"n":"%s","c":"%s"}'%s`, j.N,
			pick(r, keyNames...), is), beats: 2}
	default:
		if j.LockedBy != "" {
			return act{}
		}
		return act{sql: "update gw._private_jobs set job_queue_id = null" + is, beats: 2}
	}
}

func drawFleet(r *rand.Rand, _ *model, _ int) act {
	worker := pick(r, "w1", "w2", "w3", "w4")
	switch r.IntN(6) {
	case 0:
		return act{sql: "select gw.force_unlock_workers('{" + worker + "}')"}
	case 1:
		return act{sql: "select gw.return_unknown_jobs('" + worker + "', '{}')", returns: true}
	case 2:
		return act{sql: "select gw.cleanup('{GC_JOB_QUEUES,GC_TASK_IDENTIFIERS}', force => true)"}
	case 3:
		return act{sql: "select gw.reset_stale_locks()"}
	default:
		return act{sql: "select gw.heartbeat('" + worker + "')"}
	}
}
