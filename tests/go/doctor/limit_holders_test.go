package doctor_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

const (
	aLimit    = "select graphile_worker.set_limit('one', '{task}', max_running => 2)"
	claimed   = "select count(*) from graphile_worker.get_job('worker', '{task}')"
	holders   = "select string_agg(d.subject || ': ' || d.detail, ' ') from graphile_worker._gw_find_limit_holders($1) as d"
	reasons   = "select string_agg(w.reason || ': ' || w.detail, ' ') from graphile_worker.jobs as j, graphile_worker.why(j.id) as w where j.key = $1"
	twoOfTask = "select graphile_worker.add_job('task', job_key => 'first'), graphile_worker.add_job('task', job_key => 'second')"
)

// A transaction that has claimed a job of a limit, and does not end, keeps others from claiming. why() and doctor() name its session.
func TestASessionWhoseTransactionHoldsALimitIsNamed(t *testing.T) {
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	pgtest.Exec(t, pool, aLimit)
	pgtest.Exec(t, pool, twoOfTask)
	if told := pgtest.Value[*string](t, pool, holders, "-1 hour"); told != nil {
		t.Errorf("nobody holds the limit, but: %s", *told)
	}
	holder := session(t, database, "begin", claimed)
	who := sessionOf(holder)
	told := pgtest.Value[string](t, pool, holders, "-1 hour")
	if !strings.HasPrefix(told, "limit one: It is held by the "+who+" of role ") {
		t.Errorf("the finding is %q", told)
	}
	if told := pgtest.Value[*string](t, pool, holders, "1 hour"); told != nil {
		t.Errorf("a young transaction is reported: %s", *told)
	}
	if why := pgtest.Value[string](t, pool, reasons, "second"); strings.Contains(why, "held") &&
		!strings.Contains(why, who) {
		t.Errorf("the reason is %q", why)
	}
	pgtest.Await(t, pool, "select ("+reasons+") like 'held: The limit one is held by the ' || $2 || ' of role %'",
		"second", who)
	if _, err := holder.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if why := pgtest.Value[string](t, pool, reasons, "second"); strings.Contains(why, "held") {
		t.Errorf("the transaction has ended, but: %s", why)
	}
}

// A prepared transaction holds the limit that it has claimed under until somebody ends it; the remedy does.
func TestAPreparedTransactionThatHoldsALimitIsNamed(t *testing.T) {
	pool := install(t, pgtest.Server(t, map[string]string{"max_prepared_transactions": "1"}).URL("postgres"))
	pgtest.Exec(t, pool, aLimit)
	pgtest.Exec(t, pool, twoOfTask)
	visit(t, pool.Config().ConnString(), "begin", "select from graphile_worker._gw_limits for no key update",
		"prepare transaction 'claim'")
	told := pgtest.Value[string](t, pool, holders, "-1 hour")
	if !strings.HasPrefix(told, "limit one: It is held by the prepared transaction claim, ") {
		t.Errorf("the finding is %q", told)
	}
	remedy := pgtest.Value[string](t, pool, "select split_part(d.remedy, e'\n', 2) from graphile_worker._gw_find_limit_holders('-1 hour') as d")
	pgtest.Exec(t, pool, remedy)
	if told := pgtest.Value[*string](t, pool, holders, "-1 hour"); told != nil {
		t.Errorf("the remedy does not help: %s", *told)
	}
}
