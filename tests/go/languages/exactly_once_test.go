package languages

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestWorkAndItsReportInOneTransactionAreDoneTogether(t *testing.T) {
	database, pool := shop(t)
	order := addInvoice(t, pool, 0)

	program("exactly_once.sql").run(t, "work", database)

	if !pgtest.Value[bool](t, pool, isInvoiced, order) {
		t.Error("the work was not committed")
	}
	if pgtest.Value[bool](t, pool, "select exists (select from graphile_worker.jobs)") {
		t.Error("the job still exists")
	}
}

func TestWorkIsUndoneInOneTransactionWithAReportThatComesTooLate(t *testing.T) {
	database, pool := shop(t)
	order := addInvoice(t, pool, 0)
	pgtest.Exec(t, pool, `
		create function lose_the_job()
		  returns trigger
		  language plpgsql
		as $$
		begin
		  perform graphile_worker.force_unlock_workers(array['me']);
		  return new;
		end
		$$;
		create trigger lose_the_job
		  before update on orders
		  for each row
		  execute function lose_the_job()`)

	program("exactly_once.sql").run(t, "work", database)

	if pgtest.Value[bool](t, pool, isInvoiced, order) {
		t.Error("the work was committed, although the job was lost")
	}
	if !pgtest.Value[bool](t, pool, "select exists (select from graphile_worker.jobs)") {
		t.Error("the job is gone")
	}
}
