package migrate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestGraphileWorkersSchemaIsAdoptedWithItsJobs(t *testing.T) {
	for _, c := range []struct {
		name      string
		revision  int
		setup     string
		from18    bool
		ledger    string
		announced []string
		warning   string
	}{
		{name: "revision 20", revision: 20, ledger: nodesLedger},
		{name: "revision 19", revision: 19, ledger: nodesLedger,
			announced: []string{`{"migrationNumber":20,"breaking":false}`}},
		{
			name: "revision 18", revision: 18, from18: true, ledger: nodesLedger,
			announced: []string{`{"migrationNumber":19,"breaking":true}`, `{"migrationNumber":20,"breaking":false}`},
			warning:   "Node workers older than 0.17 will refuse to start",
		},
		{name: "a later revision that breaks nothing", revision: 21, ledger: nodesLedger +
			" 21", warning: "at revision 21"},
		{
			name: "the Rust port's ledger", revision: 22,
			setup: "update graphile_worker.migrations set breaking = false where id = 19",
			ledger: strings.Replace(nodesLedger, "19!", "19", 1) +
				" 21 22", warning: "port to Rust: nothing is written to it",
		},
		{
			name: "the Rust port's ledger at 19", revision: 19,
			setup:  "update graphile_worker.migrations set breaking = false where id = 19",
			ledger: strings.TrimSuffix(strings.Replace(nodesLedger, "19!", "19", 1), " 20"), warning: "port to Rust",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := graphile(t, c.revision)
			conn := connect(t, database)
			execute(t, conn, c.setup+";"+guests)
			execute(t, conn, `listen "worker:migrate"`)
			before, guestsBefore := contents(t, conn), guestsOf(t, conn)
			var warnings []string
			cfg := migrate.Config{Adopt: true, From18: c.from18, OnStep: func(s migrate.Step) {
				if s.Action == migrate.Warn {
					warnings = append(warnings, s.Warning)
				}
			}}

			result := up(t, database, cfg)

			if result.Before != 0 || result.After != available(t) ||
				len(result.Applied) != int(available(t)) || !result.Applied[0].Adopted {
				t.Errorf("result: %+v", result)
			}
			if found := differences(before, contents(t, conn)); found != nil {
				t.Errorf("tables: %v", found)
			}
			if found := differences(guestsBefore, guestsOf(t, conn)); found != nil {
				t.Errorf("what is not ours: %v", found)
			}
			if got := ledgerOf(t, conn); got != c.ledger {
				t.Errorf("ledger: %s", got)
			}
			if got := announcements(t, conn); !slices.Equal(got, c.announced) {
				t.Errorf("announced: %v", got)
			}
			if !strings.Contains(strings.Join(warnings, "\n"), c.warning) {
				t.Errorf("warnings: %q", warnings)
			}
			status, err := newMigrator(t, database, migrate.Config{}).Status(t.Context())
			if err != nil || status.State != migrate.Current || len(status.Changed()) != 0 || len(status.Objects) < 40 {
				t.Errorf("afterwards: %+v, %v", status, err)
			}
			got := texts(t, conn, "select j.key from graphile_worker.get_job_batch('w', null, 3) as j")
			if !slices.Equal(got, []string{"k2", "k3", "k6"}) { // queue 1 is locked, queue 2 is serial
				t.Errorf("claimed %v", got)
			}
		})
	}
}

// guestsOf lists what does not belong to the queue.
func guestsOf(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return slices.DeleteFunc(identity(t, conn), func(line string) bool {
		return !strings.Contains(line, "_private_pro_") && !strings.Contains(line, " mine ")
	})
}

// announcements returns what came over worker:migrate so far, without space.
func announcements(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	execute(t, conn, "notify \"worker:migrate\", 'end'")
	var found []string
	for {
		notification, err := conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if notification.Payload == "end" {
			return found
		}
		var message struct {
			MigrationNumber int  `json:"migrationNumber"`
			Breaking        bool `json:"breaking"`
		}
		if err := json.Unmarshal([]byte(notification.Payload), &message); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, string(text))
	}
}

func TestWhatCannotBeAdoptedIsRefusedAndStaysAsItIs(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, c := range []struct {
		name     string
		revision int // 0 means 20
		setup    string
		unasked  bool // without Adopt
		reason   migrate.Reason
		message  []string
	}{
		{name: "nobody asked for it", unasked: true, reason: migrate.ReasonGraphile,
			message: []string{"revision 20", "gw-migrate"}},
		{
			name: "an old revision", revision: 17,
			reason: migrate.ReasonGraphile, message: []string{"revision 17", "graphile-worker@0.18 --schema-only"},
		},
		{
			name: "revision 18 without leave", revision: 18,
			reason: migrate.ReasonGraphile, message: []string{"older than 0.17", "--from-18"},
		},
		{
			name: "a later revision that breaks", revision: 22,
			setup:  "update graphile_worker.migrations set breaking = true where id = 21",
			reason: migrate.ReasonGraphile, message: []string{"revision 21", "breaking"},
		},
		{
			name: "a later ledger of the Rust port", revision: 23,
			setup:  "update graphile_worker.migrations set breaking = false where id = 19",
			reason: migrate.ReasonGraphile, message: []string{"Rust, at revision 23", "up to 22"},
		},
		{
			name: "a table is missing", setup: "drop table graphile_worker._private_known_crontabs",
			reason: migrate.ReasonHalfMade, message: []string{"_private_known_crontabs.identifier",
				"or choose another schema"},
		},
		{
			name: "a column is of another type",
			setup: "alter table graphile_worker._private_jobs alter payload drop default, " +
				"alter payload type jsonb using payload::jsonb",
			reason: migrate.ReasonHalfMade, message: []string{"column _private_jobs.payload json"},
		},
		{
			name:   "a column is not computed",
			setup:  "alter table graphile_worker._private_job_queues drop is_available, add is_available boolean",
			reason: migrate.ReasonHalfMade, message: []string{"_private_job_queues.is_available boolean computed"},
		},
		{
			name: "an attribute is missing", setup: "alter type graphile_worker.job_spec drop attribute flags cascade",
			reason: migrate.ReasonHalfMade, message: []string{"column job_spec.flags text[]"},
		},
		{
			name: "a function is missing", setup: "drop function graphile_worker.remove_job",
			reason: migrate.ReasonHalfMade, message: []string{"function remove_job(job_key text)"},
		},
		{
			name: "an index is missing", setup: "drop index graphile_worker.jobs_main_index",
			reason: migrate.ReasonHalfMade, message: []string{"index jobs_main_index"},
		},
		{
			name: "keys are not unique", setup: "alter table graphile_worker._private_jobs drop constraint jobs_key_key1",
			reason: migrate.ReasonHalfMade, message: []string{"unique _private_jobs (key)"},
		},
		{
			name:   "a function of the application's has one of our names",
			setup:  "create function graphile_worker.backoff(integer) returns int language sql as 'select 1'",
			reason: migrate.ReasonForeign, message: []string{"function backoff(integer)", "rename them"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.revision == 0 {
				c.revision = 20
			}
			database := graphile(t, c.revision)
			conn := connect(t, database)
			execute(t, conn, c.setup)
			expectRefusal(t, database, migrate.Config{Adopt: !c.unasked}, c.reason, c.message...)
		})
	}
}

func expectRefusal(t *testing.T, database string, cfg migrate.Config, reason migrate.Reason, message ...string) {
	t.Helper()
	conn := connect(t, database)
	before := identity(t, conn)
	m := newMigrator(t, database, cfg)
	_, err := m.Up(t.Context())
	if refusal := refusalOf(t, err); refusal.Reason != reason {
		t.Errorf("reason %q: %v", refusal.Reason, err)
	}
	for _, want := range message {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message without %q: %v", want, err)
		}
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}
}

func TestOnlyTheOwnerOfItAllAdopts(t *testing.T) {
	owner, other := newRole(t), newRole(t)
	database := graphile(t, 20)
	conn := connect(t, database)
	execute(t, conn, `do $$ declare o text; begin
		for o in select format('%s graphile_worker.%I', case c.relkind when 'v' then 'view' else 'table' end, c.relname)
		           from pg_class as c where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'v')
		          union all
		         select 'type graphile_worker.job_spec'
		          union all
		         select format('function %s', p.oid::regprocedure)
		           from pg_proc as p where p.pronamespace = 'graphile_worker'::regnamespace
		loop execute format('alter %s owner to `+owner+`', o); end loop; end $$;
		grant usage on schema graphile_worker to `+owner+`, `+other)
	cfg := migrate.Config{Adopt: true}
	asOwner, asOther := as(t, database, owner, ""), as(t, database, other, "")

	expectRefusal(t, database, cfg, migrate.ReasonOwner, "role="+owner)
	expectRefusal(t, asOther, cfg, migrate.ReasonOwner, "role="+owner)
	expectRefusal(t, asOwner, cfg, migrate.ReasonPrivilege, `grant create on schema "graphile_worker"`)
	execute(t, conn, "grant create on schema graphile_worker to "+owner)
	execute(t, conn, "alter function graphile_worker.remove_job owner to "+other)
	expectRefusal(t, asOwner, cfg, migrate.ReasonOwner, "several roles", other)
	execute(t, conn, "alter function graphile_worker.remove_job owner to "+owner)
	up(t, asOwner, cfg)
	expectRefusal(t, asOther, migrate.Config{}, migrate.ReasonOwner)
}

// If an adoption is interrupted, each migration is applied with its version, or not at all. So a failure in a migration
// has the same effect as a kill before it.
func TestAnAdoptionCutShortIsFinishedByTheNext(t *testing.T) {
	pgtest.OnOneVersion(t)
	for failing := int32(2); failing <= available(t); failing++ {
		t.Run(fmt.Sprintf("before version %d", failing), func(t *testing.T) {
			database := graphile(t, 18)
			conn := connect(t, database)
			before := contents(t, conn)
			files := copyFiles(t)
			for name, file := range files {
				if strings.HasPrefix(name, fmt.Sprintf("migrations/%06d_", failing)) {
					file.Data = append(file.Data, ";\nselect 1 / 0;"...)
				}
			}
			cfg := migrate.Config{Adopt: true, From18: true}
			_, err := newMigratorFrom(t, database, cfg, files).Up(t.Context())
			var partial *migrate.PartialError
			if !errors.As(err, &partial) || partial.Failed.Version != failing {
				t.Fatalf("got %v", err)
			}
			if failing <= 3 {
				if got := ledgerOf(t, conn); got != strings.TrimSuffix(nodesLedger, " 19! 20") {
					t.Errorf("ledger without our functions: %s", got)
				}
				expectRefusal(t, database, migrate.Config{Adopt: true}, migrate.ReasonGraphile, "--from-18")
				expectRefusal(t, database, migrate.Config{From18: true}, migrate.ReasonGraphile, "gw-migrate")
			}

			up(t, database, cfg)

			if got := ledgerOf(t, conn); got != nodesLedger {
				t.Errorf("ledger: %s", got)
			}
			if found := differences(before, contents(t, conn)); found != nil {
				t.Errorf("tables: %v", found)
			}
			if status, err := newMigrator(t, database, migrate.Config{}).Status(t.Context()); err != nil ||
				status.State != migrate.Current || len(status.Changed()) != 0 {
				t.Errorf("afterwards: %+v, %v", status, err)
			}
		})
	}
}

func TestAnAdoptionCutShortBeforeItsFirstMigrationIsFinishedByTheNext(t *testing.T) {
	database := graphile(t, 20)
	execute(t, connect(t, database), "create table graphile_worker._gw_schema_version as select 0 as version")
	expectRefusal(t, database, migrate.Config{}, migrate.ReasonGraphile)
	if result := up(t, database, migrate.Config{Adopt: true}); result.After != available(t) {
		t.Errorf("result: %+v", result)
	}
}

func TestTenAdoptionsAtOnceAllSucceed(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := graphile(t, 18)
	const programs = 10
	var (
		group, ready sync.WaitGroup
		results      [programs]migrate.Result
		errs         [programs]error
	)
	// All see Graphile Worker's schema before one of them adopts it.
	ready.Add(programs)
	for i := range programs {
		m := newMigrator(t, database, migrate.Config{Adopt: true, From18: true, OnStep: func(s migrate.Step) {
			if s.Action == migrate.Warn && strings.Contains(s.Warning, "0.17") {
				ready.Done()
				ready.Wait()
			}
		}})
		group.Go(func() { results[i], errs[i] = m.Up(t.Context()) })
	}
	group.Wait()

	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	var applied []int32
	for _, result := range results {
		for _, migration := range result.Applied {
			applied = append(applied, migration.Version)
		}
	}
	slices.Sort(applied)
	if len(applied) != int(available(t)) || len(slices.Compact(applied)) != int(available(t)) {
		t.Errorf("applied: %v", applied)
	}
	if got := ledgerOf(t, connect(t, database)); got != nodesLedger {
		t.Errorf("ledger: %s", got)
	}
}

func TestAnAdoptionThatMeetsALongTransactionIsTriedAgain(t *testing.T) {
	database := graphile(t, 20)
	holder := connect(t, database)
	execute(t, holder, "begin; select from graphile_worker._private_jobs")
	var waits []string
	m := newMigrator(t, database, migrate.Config{Adopt: true, LockTimeout: shortLockTimeout,
		OnStep: func(s migrate.Step) {
			if s.Action != migrate.Wait {
				return
			}
			if waits = append(waits, s.String()); len(waits) == 2 {
				execute(t, holder, "rollback")
			}
		}})
	m.TryLocks(10)
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(waits) < 2 || !strings.HasPrefix(waits[0], "000002_tables.sql waits for a lock of another session") {
		t.Errorf("waits: %q", waits)
	}
}

func TestARevisionThatNodeIsJustRecordingIsWaitedFor(t *testing.T) {
	database := graphile(t, 19)
	node := connect(t, database)
	execute(t, node, "begin; insert into graphile_worker.migrations (id) values (20)")
	waits := 0
	m := newMigrator(t, database, migrate.Config{Adopt: true, LockTimeout: shortLockTimeout,
		OnStep: func(s migrate.Step) {
			if s.Action != migrate.Wait || s.Migration.Version != 3 {
				return
			}
			if waits++; waits == 1 {
				execute(t, node, "commit")
			}
		}})
	m.TryLocks(10)
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ledgerOf(t, node); waits == 0 || got != nodesLedger {
		t.Errorf("after %d waits: %s", waits, got)
	}
}
