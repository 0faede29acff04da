package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestUpInstallsIntoAnEmptyDatabaseStepByStep(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	var steps []migrate.Step
	result := up(t, database, migrate.Config{OnStep: func(s migrate.Step) { steps = append(steps, s) }})

	latest := available(t)
	if result.Before != 0 || result.After != latest || len(result.Applied) != int(latest) {
		t.Errorf("result: %d to %d, %d applied", result.Before, result.After, len(result.Applied))
	}
	if len(steps) != int(latest)+1 || steps[0].String() != `create schema "graphile_worker"` ||
		steps[1].String() != "apply 000001_contract.sql" {
		t.Errorf("steps: %v", steps)
	}
}

func TestUpWithNothingToDoWritesNothingAndNeedsNoRightToWrite(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	up(t, database, migrate.Config{})
	conn := connect(t, database)
	before := identity(t, conn)

	result := up(t, as(t, database, "", "-c default_transaction_read_only=on"), migrate.Config{})

	if result.Before != available(t) || result.After != available(t) || len(result.Applied) != 0 {
		t.Errorf("result: %+v", result)
	}
	if changed := differences(before, identity(t, conn)); changed != nil {
		t.Errorf("changed: %v", changed)
	}
}

func TestTenAtOnceOnAnEmptyDatabaseAllSucceed(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	const programs = 10
	var (
		group   sync.WaitGroup
		results [programs]migrate.Result
		errs    [programs]error
	)
	// All see that there is no schema before one of them creates it.
	var ready sync.WaitGroup
	ready.Add(programs)
	for i := range programs {
		m := newMigrator(t, database, migrate.Config{OnStep: func(s migrate.Step) {
			if s.Action == migrate.CreateSchema {
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
	if status, err := newMigrator(t, database, migrate.Config{}).Status(t.Context()); err != nil ||
		status.State != migrate.Current {
		t.Errorf("state %q, %v", status.State, err)
	}
}

func TestDroppingTheSchemaRemovesEverythingAndUpInstallsAgain(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	empty := shape(t, conn)
	up(t, database, migrate.Config{})
	installed := shape(t, conn)

	execute(t, conn, "drop schema graphile_worker cascade")
	if left := differences(empty, shape(t, conn)); left != nil {
		t.Errorf("left after the drop: %v", left)
	}
	up(t, database, migrate.Config{})
	if changed := differences(installed, shape(t, conn)); changed != nil {
		t.Errorf("installed differently: %v", changed)
	}
}

func TestAnyNameThatPostgreSQLCanQuoteIsAGoodSchemaName(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	for _, name := range []string{
		`Odd "name" $$ it's 100%`,
		"$$ $gw$ {{.schema}}",
		"new\nline",
		`back\slash :colon a.b`,
		"schlüssel-straße",
		"select",
		strings.Repeat("x", 63),
	} {
		t.Run(name, func(t *testing.T) {
			up(t, database, migrate.Config{Schema: name})

			status, err := newMigrator(t, database, migrate.Config{Schema: name}).Status(t.Context())
			if err != nil || status.State != migrate.Current {
				t.Fatalf("state %q, %v", status.State, err)
			}
			schema := pgx.Identifier{name}.Sanitize()
			execute(t, conn, "select id from "+schema+".add_job('greet', queue_name := 'q', job_key := 'k')")
			got := texts(t, conn, "select j.task_identifier from "+schema+".get_job('w') as j")
			if !slices.Equal(got, []string{"greet"}) {
				t.Errorf("a job went in, out came %v", got)
			}
		})
	}
}

func TestStatusTellsHowFarTheSchemaIs(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	latest := available(t)
	for _, c := range []struct {
		setup     string
		state     migrate.State
		installed int32
		pending   int
	}{
		{"", migrate.Absent, 0, int(latest) + 1},
		{"create schema graphile_worker", migrate.Empty, 0, int(latest) + 1},
		{"install", migrate.Behind, latest, 1},
		{"upgrade", migrate.Current, latest + 1, 0},
	} {
		m := newMigratorFrom(t, database, migrate.Config{},
			withMigrations(t, "create table {{.schema}}._gw_more (id integer)"))
		switch c.setup {
		case "install":
			up(t, database, migrate.Config{})
		case "upgrade":
			if _, err := m.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		default:
			execute(t, conn, c.setup)
		}
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.State != c.state || status.Installed != c.installed || len(status.Pending) != c.pending ||
			status.Available != latest+1 || status.Refusal != nil {
			t.Errorf("after %q: state %s, installed %d, %d pending, refusal %v",
				c.setup, status.State, status.Installed, len(status.Pending), status.Refusal)
		}
	}
}
