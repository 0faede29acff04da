package grants

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestThePrintedSQLDoesTheSameByHand(t *testing.T) {
	t.Parallel()
	q := newQueue(t, oddSchema, nil)
	for _, grants := range []migrate.Grants{q.everybody(), q.limited()} {
		text, err := q.migrator().GrantSQL(t.Context(), grants)
		if err != nil {
			t.Fatal(err)
		}
		if n := pgtest.Value[int64](t, q.pool, q.text("select count(*) from S._gw_grants")); grants.Tasks == nil &&
			n != 0 {
			t.Fatal("printing the grants has changed something")
		}
		pgtest.Exec(t, q.pool, text)
	}
	q.wantPrivileges("by hand")
	text, err := q.migrator().RevokeSQL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, q.pool, text)
	q.wantNothing()
}

func TestRevokeTakesFromSomeOrFromAll(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	done, err := q.migrator().Revoke(t.Context(), q.roles["producer"], q.roles["limited"])
	if err != nil || len(done.Granted) != 4 {
		t.Fatalf("%+v, %v", done, err)
	}
	if lines := strings.Join(q.effective("API"), "\n"); strings.Contains(lines, "producer") ||
		strings.Contains(lines, " limited") ||
		strings.Contains(lines, "enqueue") || !strings.Contains(lines, "execute get_job_batch: worker") {
		t.Errorf("left: %s", lines)
	}
	q.refused(q.poolAs("producer"), "42501", "select API.enqueue('task')")
	q.grant()
	q.wantPrivileges("granted again")

	if _, err := q.migrator().Revoke(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.wantNothing()
	done, err = q.migrator().Revoke(t.Context())
	if err != nil || len(done.Granted) != 0 {
		t.Errorf("a second time: %+v, %v", done, err)
	}
	q.exec("select S.add_job('task')")
}

// wantNothing checks that roles have no more rights than in a queue without any grants.
func (q *queue) wantNothing() {
	q.t.Helper()
	if n := pgtest.Value[int64](q.t, q.pool, "select count(*) from pg_namespace where nspname = $1",
		q.schema+"_api"); n != 0 {
		q.t.Error("the roles' schema still exists")
	}
	if got := q.effective("S"); len(got) > 0 {
		q.t.Errorf("can be used: %q", got)
	}
	if closed := q.lines(`
		select p.proname::text from pg_proc as p
		 where p.pronamespace = 'S'::regnamespace and not has_function_privilege('` + q.roles["bystander"] +
		`', p.oid, 'execute')`); len(closed) > 0 {
		q.t.Errorf("changed: %q", closed)
	}
}

func TestWhatAQueueThatWasDroppedLeftForRolesIsRemoved(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"graphile_worker", oddSchema} {
		q := newQueue(t, schema, nil)
		q.grant()
		q.exec("drop schema " + quote(schema) + " cascade")
		q.exec("create schema theirs")
		left := func() int64 {
			return pgtest.Value[int64](t, q.pool,
				"select count(*) from pg_proc where pronamespace = $1::text::regnamespace", quote(schema+"_api"))
		}
		if left() == 0 {
			t.Fatal("nothing is left: this test would check nothing")
		}
		if _, err := q.migrator().Revoke(t.Context(), q.roles["worker"]); err == nil ||
			!strings.Contains(err.Error(), "the queue was dropped") {
			t.Errorf("of one role: %v", err)
		}
		q.exec("create view theirs.seen as select * from API.jobs")
		if _, err := q.migrator().Revoke(t.Context()); sqlstate.Of(err) != "2BP01" || left() == 0 {
			t.Errorf("with a view of another role: %v", err)
		}
		q.exec("drop view theirs.seen")
		text, err := q.migrator().RevokeSQL(t.Context())
		if err != nil || !strings.HasSuffix(text, "drop schema "+pgtest.Value[string](t, q.pool,
			"select quote_ident($1)", schema+"_api")+";\n") || left() == 0 {
			t.Errorf("%v, printed:\n%s", err, text)
		}
		if _, err := q.migrator().Revoke(t.Context()); err != nil {
			t.Error(err)
		}
		if n := pgtest.Value[int64](t, q.pool, "select count(*) from pg_namespace where nspname = $1",
			schema+"_api"); n != 0 {
			t.Error("the roles' schema still exists")
		}
		if _, err := q.migrator().Revoke(t.Context()); !isRefusal(err, migrate.ReasonAbsent) {
			t.Errorf("with nothing left: %v", err)
		}
	}
}

// A schema of that name that another role has created must not be dropped.
func TestWithoutAQueueASchemaOfAnotherRoleIsKept(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.exec("drop schema graphile_worker cascade; create schema graphile_worker_api; create function API.mine() returns void language sql as ''")
	if _, err := q.migrator().Revoke(t.Context()); !isRefusal(err, migrate.ReasonAbsent) {
		t.Errorf("got %v", err)
	}
	q.exec("select API.mine()")
}

func TestTheTasksOfAProducerCanBeChanged(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	grant := func(tasks ...string) {
		t.Helper()
		done, err := q.migrator().Grant(t.Context(), migrate.Grants{Producers: []string{q.roles["limited"]},
			Tasks: tasks})
		if err != nil || !slices.ContainsFunc(done.Granted, func(g migrate.Granted) bool {
			return g.Role == q.roles["limited"] && slices.Equal(g.Tasks, tasks)
		}) {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	grant("mail", `it's 100% "odd"`)
	limited := q.poolAs("limited")
	q.execAs(limited, `select API.enqueue_mail(), API."enqueue_it's 100% ""odd"""()`)
	q.refused(limited, "42883", `select API."enqueue_resize-image"()`)
	grant()
	q.execAs(limited, `select API.enqueue('anything')`)
	q.refused(limited, "42883", `select API.enqueue_mail()`)
	got := pgtest.Value[[]string](t, q.pool, "select array_agg(j.task_identifier order by j.id) from graphile_worker.jobs as j")
	if !slices.Equal(got, []string{"mail", `it's 100% "odd"`, "anything"}) {
		t.Errorf("jobs: %q", got)
	}
}

func TestWhatCannotBeGrantedIsRefusedAndNothingIsChanged(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	superuser := q.admin.Config().ConnConfig.User
	q.execAs(q.admin, "grant {owner} to {admin}")
	for name, c := range map[string]struct {
		grants  migrate.Grants
		problem string
	}{
		"nobody":         {migrate.Grants{Workers: []string{"no such role"}}, "There is no role 'no such role'"},
		"everybody":      {migrate.Grants{Workers: []string{"public"}}, "There is no role 'public'"},
		"the owner":      {migrate.Grants{Workers: []string{q.roles["owner"]}}, "or the owner of the queue"},
		"a member of it": {migrate.Grants{Admins: []string{q.roles["admin"]}}, "or a member of its owner"},
		"a superuser":    {migrate.Grants{Producers: []string{superuser}}, "is a superuser"},
		"a long task": {migrate.Grants{Producers: []string{q.roles["producer"]},
			Tasks: []string{strings.Repeat("x", 56)}}, "at most 63 bytes"},
		"an empty task": {migrate.Grants{Producers: []string{q.roles["producer"]}, Tasks: []string{""}},
			"at most 63 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			c.grants.Monitors = []string{q.roles["monitor"]}
			_, err := q.migrator().Grant(t.Context(), c.grants)
			if err == nil || !strings.Contains(err.Error(), c.problem) ||
				!strings.Contains(err.Error(), "nothing is changed") {
				t.Errorf("got %v", err)
			}
		})
	}
	q.execAs(q.admin, "revoke {owner} from {admin}")
	q.wantNothing()
	if _, err := q.migratorAs("bystander").Grant(t.Context(), q.everybody()); !isRefusal(err, migrate.ReasonOwner) {
		t.Errorf("by a role without rights: %v", err)
	}
	q.exec(`create schema graphile_worker_api; create table API.mine (n integer)`)
	_, err := q.migrator().Grant(t.Context(), q.limited())
	if err == nil || !strings.Contains(err.Error(), "contains other objects") {
		t.Errorf("with a schema of another role: %v", err)
	}
	if _, err := q.migrator().Revoke(t.Context()); err != nil {
		t.Errorf("beside a schema of another role: %v", err)
	}
	q.exec(`drop table API.mine; update S._gw_schema_version set version = version - 1`)
	_, err = q.migrator().Grant(t.Context(), q.limited())
	if err == nil || !strings.Contains(err.Error(), "bring it up to date") {
		t.Errorf("with an older schema: %v", err)
	}
}

func isRefusal(err error, reason migrate.Reason) bool {
	var refusal *migrate.Refusal
	return errors.As(err, &refusal) && refusal.Reason == reason
}

func TestAnOwnerWhoMayNotCreateSchemasGetsThemFromTheDatabasesOwner(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	database := quote(q.admin.Config().ConnConfig.Database)
	q.execAs(q.admin, fmt.Sprintf("revoke create on database %s from {owner}", database))
	_, err := q.migrator().Grant(t.Context(), q.everybody())
	if err == nil || !strings.Contains(err.Error(), `create schema "graphile_worker_api" authorization`) {
		t.Fatalf("got %v", err)
	}
	q.execAs(q.admin, `create schema graphile_worker_api authorization {owner}`)
	q.grant()
	q.wantPrivileges("in a schema that was there")
}

func TestARoleThatIsGoneDoesNotStopAMigration(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	q.exec(`insert into S._gw_grants (role, kind) values ('gone', 'worker')`)
	if _, err := q.migrator().Grant(t.Context(), migrate.Grants{}); err != nil {
		t.Error(err)
	}
	q.wantPrivileges("beside a role that is gone")
}

func TestALongSchemaNameLeavesNoRoomForRoles(t *testing.T) {
	t.Parallel()
	q := newQueue(t, strings.Repeat("s", 60), nil)
	_, err := q.migrator().Grant(t.Context(), q.everybody())
	if err == nil || !strings.Contains(err.Error(), "more than 63 bytes") {
		t.Errorf("got %v", err)
	}
}
