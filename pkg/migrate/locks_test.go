package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// ternLock is the advisory lock of all programs that migrate with tern.
const ternLock = "9628173550095224"

// shortLockTimeout is long enough for a migration that does not have to wait.
const shortLockTimeout = 100 * time.Millisecond

// blocked returns the URL of an up-to-date database with two more migrations, of which the second cannot be applied as
// long as the returned connection does not roll back. The first shows that the lock timeout outlives a migration.
func blocked(t *testing.T, cfg migrate.Config) (*migrate.Migrator, *pgx.Conn) {
	t.Helper()
	database := pgtest.EmptyDatabase(t)
	up(t, database, migrate.Config{})
	holder := connect(t, database)
	execute(t, holder, "begin; lock table graphile_worker._private_jobs in access share mode")
	cfg.LockTimeout = shortLockTimeout
	return newMigratorFrom(t, database, cfg, withMigrations(t,
		"create table {{.schema}}._gw_free (id integer)",
		"alter table {{.schema}}._private_jobs add constraint _gw_check check (true)",
	)), holder
}

func TestAMigrationThatMeetsALockIsTriedAgainUntilTheLockIsFree(t *testing.T) {
	var (
		holder *pgx.Conn
		waits  []migrate.Step
	)
	m, holder := blocked(t, migrate.Config{OnStep: func(s migrate.Step) {
		if s.Action != migrate.Wait {
			return
		}
		if waits = append(waits, s); len(waits) == 2 {
			execute(t, holder, "rollback")
		}
	}})
	m.TryLocks(3)
	latest := available(t)

	result, err := m.Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(waits) != 2 || waits[0].Migration.Version != latest+2 {
		t.Errorf("waits: %v", waits)
	}
	if len(result.Applied) != 2 || result.Applied[0].Version != latest+1 || result.Applied[1].Version != latest+2 {
		t.Errorf("applied: %v", result.Applied)
	}
}

func TestAMigrationThatNeverGetsItsLockGivesUpAndSaysWhatIsDone(t *testing.T) {
	pgtest.OnOneVersion(t)
	m, holder := blocked(t, migrate.Config{})
	m.TryLocks(2)
	latest := available(t)

	_, err := m.Up(t.Context())

	var partial *migrate.PartialError
	if !errors.As(err, &partial) || len(partial.Applied) != 1 || partial.Applied[0].Version != latest+1 ||
		partial.Failed.Version != latest+2 {
		t.Fatalf("got %v", err)
	}
	kept := fmt.Sprintf("the schema stays at version %d", latest+1)
	for _, want := range []string{"apply " + partial.Failed.Name, "pg_stat_activity", kept} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message without %q: %v", want, err)
		}
	}
	execute(t, holder, "rollback")
	if result, err := m.Up(t.Context()); err != nil || result.Before != latest+1 || result.After != latest+2 {
		t.Errorf("with the lock free: %+v, %v", result, err)
	}
}

func TestAnotherProgramThatMigratesIsWaitedForHoweverOften(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	other := connect(t, database)
	execute(t, other, "select pg_advisory_lock("+ternLock+")")
	waits := 0
	m := newMigrator(t, database, migrate.Config{LockTimeout: shortLockTimeout, OnStep: func(s migrate.Step) {
		if s.Action != migrate.Wait {
			return
		}
		if !strings.Contains(s.String(), "another migration is running") {
			t.Errorf("step: %s", s)
		}
		if waits++; waits == 3 {
			execute(t, other, "select pg_advisory_unlock("+ternLock+")")
		}
	}})
	m.TryLocks(1)

	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waits != 3 {
		t.Errorf("waited %d times", waits)
	}
}

// Any role may take the lock by which migrations wait for each other.
func TestAStrangerWhoHoldsTheLockOfMigrationsIsNamedAndNotWaitedForForEver(t *testing.T) {
	pgtest.OnOneVersion(t)
	role := newRole(t)
	database := pgtest.EmptyDatabase(t)
	stranger := connect(t, as(t, database, role, ""))
	execute(t, stranger, "set application_name = 'stranger'; select pg_advisory_lock("+ternLock+")")
	var (
		m     *migrate.Migrator
		waits []string
	)
	m = newMigrator(t, database, migrate.Config{LockTimeout: shortLockTimeout, OnStep: func(s migrate.Step) {
		if s.Action == migrate.Wait {
			waits = append(waits, s.String())
			m.WaitForOthers(0)
		}
	}})
	m.WaitForOthers(time.Hour)

	_, err := m.Up(t.Context())

	var held *migrate.HeldError
	if !errors.As(err, &held) || held.Holder == nil {
		t.Fatalf("got %v", err)
	}
	pid := stranger.PgConn().PID()
	if held.Holder.PID != int32(pid) || held.Holder.Role != role || held.Holder.Application != "stranger" ||
		held.Holder.Since.IsZero() {
		t.Errorf("holder: %+v", held.Holder)
	}
	if len(waits) != 1 {
		t.Fatalf("waits: %q", waits)
	}
	for _, text := range []string{err.Error(), waits[0]} {
		for _, want := range []string{fmt.Sprintf("process %d (role %q, application \"stranger\"", pid, role),
			fmt.Sprintf("select pg_terminate_backend(%d)", pid)} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in: %s", want, text)
			}
		}
	}

	execute(t, connect(t, database), fmt.Sprintf("select pg_terminate_backend(%d)", pid))
	up(t, database, migrate.Config{})
}

// A role that may not see the sessions of others sees at least which one it is.
func TestARoleWithFewRightsLearnsWhoHoldsTheLockOfMigrations(t *testing.T) {
	role := newRole(t)
	database := pgtest.EmptyDatabase(t)
	other := connect(t, database)
	execute(t, other, "grant create on database "+pgx.Identifier{other.Config().Database}.Sanitize()+" to "+role)
	execute(t, other, "select pg_advisory_lock("+ternLock+")")
	m := newMigrator(t, as(t, database, role, ""), migrate.Config{LockTimeout: shortLockTimeout})
	m.WaitForOthers(0)

	_, err := m.Up(t.Context())

	var held *migrate.HeldError
	if !errors.As(err, &held) || held.Holder == nil || held.Holder.PID != int32(other.PgConn().PID()) ||
		held.Holder.Role == "" {
		t.Errorf("got %v", err)
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	pgtest.OnOneVersion(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, _ := blocked(t, migrate.Config{OnStep: func(s migrate.Step) {
		if s.Action == migrate.Wait {
			cancel()
		}
	}})
	if _, err := m.Up(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
