package gotest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
)

const (
	claimCursor = "select coalesce(current_setting('gw.claim_cursor', true), '')"
	claimTen    = "select id from graphile_worker.get_job_batch('worker', batch_size => 10)"
	// indexReads is how many entries of the index this transaction has read.
	indexReads = "select pg_stat_get_xact_tuples_returned('graphile_worker.jobs_no_queue_index'::regclass)"
	addOlder   = "select id from graphile_worker.add_job('task', run_at => now() - interval '2 hours')"
)

// addMany adds jobs that were due an hour ago.
func (s *session) addMany(jobs int, task, flags string, priority int) {
	s.t.Helper()
	s.exec(fmt.Sprintf(`
		select count(*) from graphile_worker.add_jobs(array(
		  select row('%s', null, null, now() - interval '1 hour', null, null, %d, %s)::graphile_worker.job_spec
		    from generate_series(1, %d)))`, task, priority, flags, jobs))
}

// burn claims and completes jobs in batches of ten.
func (s *session) burn(jobs int) {
	s.t.Helper()
	for range jobs / 10 {
		ids := all[int64](s, claimTen)
		if len(ids) != 10 {
			s.t.Fatalf("claimed %v, want 10 jobs", ids)
		}
		s.exec("select graphile_worker.complete_job_batch('worker', $1)", ids)
	}
}

// deadFront is a database with a number of due jobs behind 2000 completed ones, whose index entries an open snapshot keeps. The
// claimer has completed them, and so has a cursor.
func deadFront(t *testing.T, backlog int) (d *database, claimer *session) {
	t.Helper()
	const dead = 2000
	d = newDatabase(t)
	holder := d.sessionAt(repeatableRead)
	claimer = d.session()
	claimer.addMany(dead+backlog, "task", "null", 0)
	holder.exec("begin")
	holder.exec("select 1 from graphile_worker._private_jobs limit 1")
	claimer.burn(dead)
	if one[string](claimer, claimCursor) == "" {
		t.Fatal("no claim cursor")
	}
	return d, claimer
}

// lookAgain claims and completes one job at a time until a claim has looked from the beginning, and put the cursor anew.
func (s *session) lookAgain() {
	s.t.Helper()
	const until = "select (current_setting('gw.claim_cursor')::bigint[])[2]"
	for before, deadline := one[int64](s, until), time.Now().Add(patience); one[int64](s, until) == before; {
		if time.Now().After(deadline) {
			s.t.Fatal("no claim looked from the beginning")
		}
		s.exec("select graphile_worker.complete_job('worker', id) from graphile_worker.get_job_batch('worker')")
	}
}

// lookInAnHour puts the next look from the beginning off, so that only claims that need not wait for it find what stands
// in front of the cursor.
func (s *session) lookInAnHour() {
	s.t.Helper()
	s.putOff("c.at[2] + 3600000000", "c.at[3]")
}

// putOff sets until when claims start at the cursor, and when one that finds nothing there may look from the beginning.
func (s *session) putOff(until, emptyUntil string) {
	s.t.Helper()
	s.exec(`
		select set_config('gw.claim_cursor', array[c.at[1], ` + until + `, ` + emptyUntil +
		`, c.at[4], c.at[5], c.at[6], c.at[7], c.at[8]]::text, false)
		  from (select current_setting('gw.claim_cursor')::bigint[] as at) as c`)
}

// claimUntil claims and completes jobs one by one until it is the turn of this one. It returns how long that took by the
// database's clock, and how many claims. It gives up after five seconds.
func (s *session) claimUntil(id int64, since time.Time) (wait time.Duration, claims int) {
	s.t.Helper()
	for {
		claims++
		ids := all[int64](s, "select id from graphile_worker.get_job_batch('worker')")
		wait = one[time.Time](s, "select clock_timestamp()").Sub(since)
		if slices.Contains(ids, id) || wait > 5*time.Second {
			return wait, claims
		}
		if len(ids) > 0 {
			s.exec("select graphile_worker.complete_job_batch('worker', $1)", ids)
		}
	}
}

func TestASmallFrontPutsNoClaimCursor(t *testing.T) {
	s := newDatabase(t).session()
	s.addMany(150, "task", "null", 0)
	s.burn(100)
	if cursor := one[string](s, claimCursor); cursor != "" {
		t.Errorf("the claim cursor is %s, want none", cursor)
	}
}

// reads claims ten jobs, undoes it, and returns how many entries of the index that read.
func (s *session) reads(claim string) int64 {
	s.t.Helper()
	s.exec("begin")
	before := one[int64](s, indexReads)
	if ids := all[int64](s, claim); len(ids) != 10 {
		s.t.Errorf("%s: claimed %v, want 10 jobs", claim, ids)
	}
	read := one[int64](s, indexReads) - before
	s.exec("rollback")
	return read
}

func TestAClaimCursorLeavesALongFrontBehind(t *testing.T) {
	t.Run("dead jobs", func(t *testing.T) {
		_, s := deadFront(t, 20000)
		checkReads(t, s, claimTen, 2000)
	})
	t.Run("dead jobs, and named queues behind", func(t *testing.T) {
		d, s := deadFront(t, 20000)
		d.watcher.exec("select graphile_worker.add_job('task', queue_name => 'queue' || n, priority => 1) from generate_series(1, 10) as n")
		s.exec("select set_config('gw.claim_cursor', '', false)")
		all[int64](s, claimTen)
		checkReads(t, s, claimTen, 2000)
	})
	for _, c := range []struct{ name, task, flags, claim string }{
		{"forbidden flags", "task", "array['barred']",
			"select id from graphile_worker.get_job_batch('worker', batch_size => 10, forbidden_flags => array['barred'])"},
		{"forbidden flags of a task", "task", "array['barred']",
			`select id from graphile_worker.get_job_batch('worker', batch_size => 10, task_forbidden_flags => '{"task": ["barred"]}')`},
		{"unknown tasks", "unknown", "null", "select id from graphile_worker.get_job_batch('worker', array['task'], 10)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newDatabase(t).session()
			s.addMany(20000, c.task, c.flags, 0)
			s.addMany(100, "task", "null", 0)
			all[int64](s, c.claim)
			checkReads(t, s, c.claim, 20000)
		})
	}
}

// checkReads checks that with the cursor a claim reads about its batch, and without it the whole front.
func checkReads(t *testing.T, s *session, claim string, front int64) {
	t.Helper()
	s = s.in(t)
	s.lookInAnHour()
	if read := s.reads(claim); read > 1200 { // The cursor moves on once there are 1000 to step over.
		t.Errorf("from the cursor a claim read %d entries of the index, want 1200 at most", read)
	}
	s.exec("select set_config('gw.claim_cursor', '', false)")
	if read := s.reads(claim); read < front {
		t.Errorf("from the beginning a claim read %d entries of the index, want %d at least", read, front)
	}
}

// newcomer is a way in which a job is placed before the cursor: add returns its id.
type newcomer struct{ name, add, before, change string }

var newcomers = []newcomer{
	{name: "inserted with an earlier run_at", change: addOlder},
	{name: "inserted with a more urgent priority",
		change: "select id from graphile_worker.add_job('task', priority => -1)"},
	{name: "returned to its old place", add: addOlder, before: "select id from graphile_worker.get_job_batch('other')",
		change: "select graphile_worker.return_job('other', $1), $1::bigint"},
	{name: "rescheduled to before it", add: "select id from graphile_worker.add_job('task', run_at => now() + interval '1 day')",
		change: "select id from graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now() - interval '2 hours')"},
}

// A job that is placed before the cursor is still claimed soon, by the database's clock, although there are always jobs after
// the cursor.
func TestAJobInFrontOfTheClaimCursorIsTakenSoon(t *testing.T) {
	d, s := deadFront(t, 40000)
	for _, n := range newcomers {
		t.Run(n.name, func(t *testing.T) {
			var wait time.Duration
			var claims int
			for range 3 { // the machine may be busy with something else
				if wait, claims = n.join(d.in(t), s.in(t)); wait <= 2*time.Second {
					return
				}
			}
			t.Errorf("taken after %v and %d claims, want 2 s at most", wait, claims)
		})
	}
	t.Run("a cursor that stays in force is seen", func(t *testing.T) {
		d.watcher.mutate("_gw_put_claim_cursor", "least(50 * took, 500000)", "3600000000")
		if wait, _ := newcomers[0].join(d.in(t), s.in(t)); wait <= 2*time.Second {
			t.Errorf("taken after %v", wait)
		}
	})
}

// join lets the job come while a fresh cursor is in force, and returns how long the claimer takes to claim it.
func (n newcomer) join(d *database, claimer *session) (wait time.Duration, claims int) {
	d.t.Helper()
	other := d.session()
	var id int64
	if n.add != "" {
		id = one[int64](other, n.add)
	}
	if n.before != "" {
		other.exec("select set_config('gw.claim_cursor', '', false)") // A stored one may stand behind the job for half a second.
		if one[int64](other, n.before) != id {
			d.t.Fatal("the other worker claimed another job")
		}
	}
	claimer.lookAgain()
	switch {
	case n.add == "":
		id = one[int64](other, n.change)
	default:
		other.exec(n.change, id)
	}
	return claimer.claimUntil(id, one[time.Time](other, "select clock_timestamp()"))
}

// If no job is left after the cursor, claims do not wait for the next regular search from the beginning.
func TestAJobInFrontIsFoundWhenNothingIsBehindTheClaimCursor(t *testing.T) {
	d, s := deadFront(t, 30)
	other := d.session()
	s.exec("select set_config('gw.claim_cursor', '', false)")
	s.burn(10) // The cursor is now on the next job, so that no claim has to step over many and puts another one.
	s.lookInAnHour()
	all[int64](other, "select id from graphile_worker.get_job_batch('other', batch_size => 1000)")
	// A search that took long puts off the next one, which happens on a busy machine.
	s.putOff("c.at[2]", "0")
	other.exec("update graphile_worker._gw_claim_cursors set cursor[3] = 0")
	id := one[int64](other, addOlder)
	// By the number of claims, as one of them may take long on a busy machine.
	if wait, claims := s.claimUntil(id, one[time.Time](other, "select clock_timestamp()")); claims > 10 {
		t.Errorf("taken after %v and %d claims, want 10 at most", wait, claims)
	}
}

// An idle worker's claim finds nothing after the cursor, searches from the beginning, and asks when a job is next due.
func TestAnEmptyClaimSkipsTheEntriesInFrontOnce(t *testing.T) {
	const dead, behind = 2000, 30
	d, s := deadFront(t, behind)
	s.burn(behind)
	d.watcher.exec("select graphile_worker.add_job('task', run_at => now() + interval '1 hour')")
	s.putOff("c.at[2]", "0")
	s.exec("begin")
	before := one[int64](s, indexReads)
	// As a worker does.
	due := one[time.Duration](s, `
		with asleep as materialized (select f.next_run_at - clock_timestamp() as due_in from graphile_worker.fall_asleep('worker') as f)
		select case when j.id is null then (select a.due_in from asleep as a) end
		  from (values (1)) as one
		  left join graphile_worker.get_job_batch('worker', batch_size => 10) as j on true`)
	read := one[int64](s, indexReads) - before
	s.exec("rollback")
	if due < 59*time.Minute || due > time.Hour {
		t.Errorf("the next job is due in %v, want an hour", due)
	}
	if read < dead || read > dead*3/2 {
		t.Errorf("read %d entries of the index, want the %d in front once", read, dead)
	}
}

// A worker of other tasks finds nothing behind the entries of jobs that have ended. Its claims skip them from then on, too, and find
// what is added.
func TestAnEmptyClaimPutsACursor(t *testing.T) {
	const claim = "select id from graphile_worker.get_job_batch('late', '{task, other}', 10)"
	d, s := deadFront(t, 0)
	late := d.session()
	if ids := all[int64](late, claim); len(ids) > 0 {
		t.Fatalf("claimed %v from an empty table", ids)
	}
	if one[string](late, claimCursor) == "" {
		t.Fatal("no claim cursor")
	}
	late.lookInAnHour()
	want := []int64{one[int64](s, "select id from graphile_worker.add_job('task')")}
	late.exec("begin")
	before := one[int64](late, indexReads)
	if ids := all[int64](late, claim); !slices.Equal(ids, want) {
		t.Errorf("claimed %v, want %v", ids, want)
	}
	if read := one[int64](late, indexReads) - before; read > 100 {
		t.Errorf("read %d entries of the index, want 100 at most", read)
	}
	late.exec("commit")
	// A search that took long puts off the next one.
	late.putOff("c.at[2]", "0")
	s.exec("update graphile_worker._gw_claim_cursors set cursor[3] = 0")
	want = []int64{one[int64](s, "select id from graphile_worker.add_job('other', priority => -1)")}
	if ids := all[int64](late, claim); !slices.Equal(ids, want) {
		t.Errorf("claimed %v, want the job in front of the cursor: %v", ids, want)
	}
}

// An empty claim that may not search in front of the cursor yet makes an idle worker claim again once it may: nothing else tells the
// worker of a job that has become ready there.
func TestAnEmptyClaimThatHasNotLookedInFrontIsFollowedByOneThatDoes(t *testing.T) {
	const untilNext = "select extract(epoch from graphile_worker.next_run_at() - clock_timestamp())::float8"
	d, s := deadFront(t, 0)
	s.putOff("c.at[2] + 3600000000", "c.at[3] + 3600000000")
	id := one[int64](d.watcher, addOlder)
	if ids := all[int64](s, claimTen); len(ids) > 0 {
		t.Fatalf("claimed %v, although the cursor is behind it", ids)
	}
	if next := one[*float64](s, untilNext); next == nil || *next < 3000 || *next > 3601 {
		t.Fatalf("the next claim is due in %v seconds, want an hour", next)
	}
	s.putOff("c.at[2]", "0")
	if ids := all[int64](s, claimTen); !slices.Equal(ids, []int64{id}) {
		t.Errorf("claimed %v then, want %d", ids, id)
	}
	s.putOff("c.at[2]", "0")
	if ids := all[int64](s, claimTen); len(ids) > 0 {
		t.Fatalf("claimed %v, want none", ids)
	}
	if next := one[*float64](s, untilNext); next != nil {
		t.Errorf("the next claim is due in %v seconds, although this one has looked everywhere", *next)
	}
}

// The cursor applies to claims of the same queue, tasks and flags, even if other claims share the session.
func TestAClaimCursorIsForClaimsLikeTheOneThatPutIt(t *testing.T) {
	const other = "odd schema"
	d, s := deadFront(t, 1000)
	config, err := pgx.ParseConfig(d.url)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{Schema: other})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.lookInAnHour()
	id := one[int64](s, addOlder)
	s.exec(`select "odd schema".add_job('task', run_at => now() - (2 - n) * interval '1 year') from generate_series(1, 2) as n`)
	for _, c := range []struct {
		name, claim string
		first       int64
	}{
		{"other tasks", "select id from graphile_worker.get_job_batch('worker', array['task', 'more'])", id},
		{"other flags", "select id from graphile_worker.get_job_batch('worker', forbidden_flags => array['flag'])", id},
		{"other flags of tasks", `select id from graphile_worker.get_job_batch('worker', task_forbidden_flags => '{"task": ["flag"]}')`, id},
		{"another schema", `select id from "odd schema".get_job_batch('worker')`, 1},
	} {
		s.exec("begin")
		if first := one[int64](s, c.claim); first != c.first {
			t.Errorf("%s: claimed job %d, want %d", c.name, first, c.first)
		}
		s.exec("rollback")
	}
	if first := one[int64](s, "select id from graphile_worker.get_job_batch('worker')"); first == id {
		t.Error("the same claim looked from the beginning: the cursor was not in force")
	}
}

func TestAClaimCursorIsForClaimsWithTheSameForbiddenFlagsOfTasks(t *testing.T) {
	s := newDatabase(t).session()
	s.addMany(2000, "task", "array['barred']", 0)
	s.addMany(100, "task", "null", 0)
	claim := func(flags string) int64 {
		s.exec("begin")
		defer s.exec("rollback")
		return one[int64](s, "select id from graphile_worker.get_job_batch('worker', task_forbidden_flags => $1)",
			flags)
	}
	const barred = `{"task": ["barred"]}`
	all[int64](s, "select id from graphile_worker.get_job_batch('worker', task_forbidden_flags => $1)", barred)
	s.lookInAnHour()
	s.exec("update graphile_worker._private_jobs set flags = null where id = 1")
	if first := claim(barred); first != 2002 {
		t.Errorf("claimed job %d, want 2002, the first one behind the cursor", first)
	}
	for _, other := range []string{`{"task": ["other"]}`, `{"another": ["barred"]}`, `{}`} {
		if first := claim(other); first != 1 {
			t.Errorf("with %s claimed job %d, want 1", other, first)
		}
	}
}

// A job that is not due yet when the cursor is put is claimed by the first claim after its run_at.
func TestAClaimCursorSkipsNoFutureJob(t *testing.T) {
	for _, priorities := range []int{1, 600} { // with so many, the cursor passes by those that are not due before it ends
		t.Run(fmt.Sprintf("%d priorities of the future", priorities), func(t *testing.T) {
			d := newDatabase(t)
			setting := d.session()
			setting.addFuture(priorities, "null")
			setting.addMany(2000, "task", "array['barred']", 0)
			setting.addMany(40000, "task", "null", 1)
			if late := claimFuture(d.in(t)); late != 0 {
				t.Errorf("%d claims passed the job by after it was due", late)
			}
			d.watcher.mutate("_gw_put_claim_cursor", "'{infinity}' end loop", "array[now()] end loop")
			for range 10 { // by chance claims look from the beginning when the job becomes due
				if claimFuture(d.in(t)) > 0 {
					return
				}
			}
			t.Error("a cursor that skips future jobs is not seen")
		})
	}
}

// claimFuture claims on and on until it gets a job that becomes due meanwhile, and returns how many claims passed it by
// after that.
func claimFuture(d *database) (late int) {
	d.t.Helper()
	const claimOne = `
		select id, now() >= $1 as due from graphile_worker.get_job_batch('worker', forbidden_flags => array['barred'])`
	s := d.session()
	runAt := one[time.Time](s, "select now() + interval '1.5 seconds'")
	future := one[int64](s, "select id from graphile_worker.add_job('task', run_at => $1)", runAt)
	for {
		var id int64
		var due bool
		if err := s.conn.QueryRow(d.t.Context(), claimOne, runAt).Scan(&id, &due); err != nil {
			d.t.Fatalf("claim a job: %v", err)
		}
		if id == future {
			return late
		}
		if due {
			late++
		}
		s.exec("select graphile_worker.complete_job('worker', $1)", id)
	}
}

// A claim that is rolled back leaves its jobs and the cursor as they were.
func TestAClaimRolledBackLeavesTheClaimCursor(t *testing.T) {
	_, s := deadFront(t, 1000)
	before := one[string](s, claimCursor)
	s.exec("begin")
	s.exec("select set_config('gw.claim_cursor', '', false)")
	claimed := all[int64](s, claimTen)
	during := one[string](s, claimCursor)
	s.exec("rollback")
	if after := one[string](s, claimCursor); after != before || during == before || during == "" {
		t.Errorf("the cursor was %q, in the transaction %q, then %q", before, during, after)
	}
	if again := all[int64](s, claimTen); !slices.Equal(again, claimed) {
		t.Errorf("claimed %v, want %v again", again, claimed)
	}
}

// An invalid value of the setting does not prevent claims, nor does a cursor in the future, which remains after a clock was
// set back.
func TestAClaimCursorThatMakesNoSenseIsIgnored(t *testing.T) {
	s := newDatabase(t).session()
	s.exec("select graphile_worker.add_job('task') from generate_series(1, 10)")
	const ahead = "{%d,9000000000000000,0,0,9000000000000000,1,9000000000000000,1}"
	scope := one[int64](s, "select graphile_worker._gw_cursor_scope(null::graphile_worker._gw_claim)")
	for _, cursor := range []string{
		"x", "{}", "{1}", "{1,2,3,4,5,6,7,x}", "{null,1,2,3,4,5,6,7}", "{1,2,3,4,5,6,9223372036854775808,1}",
		fmt.Sprintf(ahead, scope),
	} {
		s.exec("select set_config('gw.claim_cursor', $1, false)", cursor)
		if n := one[int](s, "select count(*) from graphile_worker.get_job_batch('worker')"); n != 1 {
			t.Errorf("with the cursor %q %d jobs were claimed, want 1", cursor, n)
		}
	}
}
