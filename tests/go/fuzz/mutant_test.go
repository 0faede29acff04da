package fuzz

import (
	"context"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestABrokenRuleIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("tests the model, which is the same for each version of PostgreSQL")
	}
	for _, m := range pgtest.Mutants(mutants) {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			f := newFuzz(t, 1)
			if err := m.apply(t.Context(), f.database); err != nil {
				t.Fatal(err)
			}
			f.setLimits(t, m.limits)
			err := f.run(t.Context(), 5000)
			if err == nil {
				t.Fatal("5000 calls did not detect the mutant")
			}
			t.Log(err)
		})
	}
}

// mutant is a function of the queue with one broken rule.
type mutant struct {
	rule, function string
	sound, broken  string // a part of its body, and the replacement
	limits         []pgtest.Limit
}

var mutants = []mutant{
	{
		rule: "no more jobs of a lane run than its limit", function: "_gw_gate_rooms", limits: someLimits,
		sound: "else l.max_running end", broken: "else l.max_running + 1 end",
	},
	{
		rule: "run_at is kept only before the first attempt", function: "_gw_add_keyed_job",
		sound: "'preserve_run_at' and j.attempts = 0", broken: "'preserve_run_at'",
	},
	{
		rule: "a waiting array comes first", function: "_gw_merged_payload",
		sound: "_joined_payload(waiting, added", broken: "_joined_payload(added, waiting",
	},
	{
		rule: "flags are replaced", function: "_gw_add_keyed_job",
		sound: "flags        = ", broken: "flags        = j.flags || ",
	},
	{
		rule: "attempts start again", function: "_gw_add_keyed_job",
		sound: "attempts     = 0,", broken: "attempts     = j.attempts,",
	},
	{
		rule: "a running job that is let go gets an attempt too many", function: "_gw_retire",
		sound: "then 0 else 1 end", broken: "then 0 else 0 end",
	},
	{
		rule: "a job that is let go tells when", function: "_gw_retire",
		sound: "updated_at   = now()", broken: "updated_at   = j.updated_at",
	},
	{
		rule: "only the job under the key is let go", function: "_gw_retire",
		sound: "j.id = job_id", broken: "j.id in (job_id, job_id - 1)",
	},
	{
		rule: "a request under the key of a waiting job draws no id", function: "_gw_draw_job_ids",
		sound: "job_key not in (select w.key", broken: "job_key in (select w.key",
	},
	{
		rule: "ids follow the order of the specs", function: "add_jobs",
		sound: "\n    returning *;", broken: "\n     order by row_number() over () desc\n    returning *;",
	},
	{
		rule: "preserve_run_at of add_jobs is for all keys", function: "add_jobs",
		sound: "case when job_key_preserve_run_at then", broken: "case when not job_key_preserve_run_at then",
	},
	{
		rule: "a queue's name has at most 128 characters", function: "_gw_job_is_refused",
		sound: "length(queue_name) operator(pg_catalog.>) 128", broken: "length(queue_name) operator(pg_catalog.>) 129",
	},
	{
		rule: "a deduplicated request changes nothing else", function: "_gw_add_keyed_job",
		sound:  "set revision = j.revision + 1, updated_at",
		broken: "set priority = 0, revision = j.revision + 1, updated_at",
	},
}

// apply breaks the rule in this database.
func (m mutant) apply(ctx context.Context, d *database) error {
	return pgtest.Mutate(ctx, d.conn, m.function, m.sound, m.broken)
}
