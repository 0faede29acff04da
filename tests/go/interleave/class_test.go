package interleave

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// withNames writes out the names of tables in a statement of a test.
var withNames = strings.NewReplacer("JOBS", "graphile_worker._private_jobs", "QUEUES",
	`"graphile_worker"._private_job_queues`)

func TestAStatementReadsTheRowsOfAClassIfItsConditionNamesIt(t *testing.T) {
	for statement, want := range map[string]string{
		"select from JOBS as j where j.is_available and j.job_queue_id is null order by j.id":       "_private_jobs plain",
		"select from JOBS as j where (a or b) and j.is_available and j.job_queue_id > 0;":           "_private_jobs queued",
		"if exists (select from JOBS as j where j.is_available and j.job_queue_id = 1) then":        "_private_jobs available",
		"update QUEUES as q set n = 1 from t where t.id = q.id and q.locked_at is null":             "_private_job_queues free",
		"select from JOBS as j where not j.is_available":                                            "_private_jobs",
		"select from JOBS as j where j.is_available or j.id = 1":                                    "_private_jobs",
		"select from JOBS as j where k.is_available":                                                "_private_jobs",
		"select from JOBS as j where case when a then false and j.is_available and true else b end": "_private_jobs",
		"select from JOBS as j where exists (select from t where j.is_available)":                   "_private_jobs",
		"select from JOBS as j left join t as u on j.is_available":                                  "_private_jobs",
		"select from JOBS as j union select from t as j where j.is_available":                       "_private_jobs",
		"select from JOBS":                "_private_jobs",
		"select pg_relation_size('JOBS')": "_private_jobs",
		"select from JOBS as j where j.is_available; select from JOBS as j where j.id = 1":                    "_private_jobs,_private_jobs available",
		"update JOBS as j set n = 1 where j.ctid = any ((select h.ctid from JOBS as h where h.is_available))": "_private_jobs available",
		"select from JOBS as h, JOBS as j where h.is_available and j.ctid = h.ctid":                           "_private_jobs available",
		"select from JOBS as h, JOBS as j where h.is_available and j.ctid = any (places)":                     "_private_jobs,_private_jobs available",
		"delete from JOBS as j where j.ctid = any ((select t.ctid from t))":                                   "_private_jobs",
	} {
		rows := mentionedRows(withNames.Replace(statement))
		if got := strings.Join(slices.Sorted(maps.Keys(rows)), ","); got != want {
			t.Errorf("%s: %s instead of %s", statement, got, want)
		}
	}
}

func TestLocksAreSkippedInTheRowsOfAClassIfTheConditionNamesIt(t *testing.T) {
	for statement, want := range map[string]string{
		"select from JOBS as j where j.is_available and b = (select 1 from JOBS as h) limit 1 for update skip locked":            "_private_jobs available",
		"select from JOBS as j where j.id = 1 for update skip locked":                                                            "_private_jobs",
		"select (select h.ctid from JOBS as h where h.is_available) from JOBS as j where j.ctid = h.ctid for update skip locked": "_private_jobs available",
	} {
		found := lockings(withNames.Replace(statement))
		if got := strings.Join(slices.Sorted(maps.Keys(found[0].rows)), ","); len(found) != 1 || got != want {
			t.Errorf("%s: %s instead of %s", statement, got, want)
		}
	}
}

func TestStepsDependOnTheRowsOfTheClassesThatTheyReadOrSkip(t *testing.T) {
	reads, skips := newFootprint(), newFootprint()
	reads.reads["jobs available"] = true
	skips.skips["jobs available"] = true
	locks := func(classes ...string) footprint {
		f := newFootprint()
		f.rows["jobs 1"] = true
		for _, c := range classes {
			f.classes[c] = true
		}
		return f
	}
	shows := func(shown ...string) footprint {
		f := newFootprint()
		for _, name := range append(shown, "jobs", "jobs 1") {
			f.shown[name] = true
		}
		return f
	}
	for _, c := range []struct {
		a, b footprint
		want bool
	}{
		{reads, shows("jobs available"), true},
		{reads, shows("jobs plain"), false},
		{skips, locks("jobs available"), true},
		{skips, locks(), false},
		{reads, locks("jobs available"), false}, // a reader does not see a change before its commit
		{reads.byTable(), shows(), true},
		{skips, newFootprint().add(footprint{writes: set{"jobs": true}}), true},
	} {
		if dependent(c.a, c.b) != c.want || dependent(c.b, c.a) != c.want {
			t.Errorf("%v and %v: not %t", c.a, c.b, c.want)
		}
	}
}
