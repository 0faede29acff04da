package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/connection"
)

// lockPolicy says how to get at locks that others hold.
type lockPolicy struct {
	timeout time.Duration // of one try
	tries   int           // of one migration
	others  time.Duration // how long other programs that migrate are waited for
	pause   func(waits int) time.Duration
}

func newLockPolicy(timeout time.Duration) lockPolicy {
	return lockPolicy{timeout: timeout, tries: 10, others: 10 * time.Minute, pause: pauseBeforeRetry}
}

// pauseBeforeRetry returns 1 s, 2 s, 4 s, 8 s, then 10 s: the application catches up with what has waited behind us.
func pauseBeforeRetry(waits int) time.Duration {
	if waits > 3 {
		return 10 * time.Second
	}
	return time.Second << waits
}

// apply applies what is pending and returns what of it this call has applied. A migration that runs into a lock is tried again
// a bounded number of times, since each try makes the application wait. Waiting for another program that migrates
// disturbs nobody, and may last longer. It is bounded, too, since any role can hold the lock that it is about.
func (m *Migrator) apply(ctx context.Context, conn *pgx.Conn, pending []Migration) ([]Migration, error) {
	migrations := slices.Concat(m.migrations[:len(m.migrations)-len(pending)], pending)
	var applied []Migration
	tries := make(map[int32]int) // by version
	queued := time.Now()         // since when it waits for other programs, if it does
	for waits := 0; ; waits++ {
		done, current, err := m.try(ctx, conn, migrations)
		applied = append(applied, done...)
		if err == nil {
			return applied, nil
		}
		if current.Version > 0 {
			tries[current.Version]++
			queued = time.Now()
		}
		if !isLockConflict(err) || tries[current.Version] == m.locks.tries {
			return applied, &PartialError{Applied: applied, Failed: current, Err: err}
		}
		step := Step{Action: Wait, Schema: m.schema, Migration: current, Pause: m.locks.pause(waits), Err: err}
		if current.Version == 0 {
			step.Holder, _ = m.holder(ctx, conn) // an error is one of the connection, which the next try meets
			if waited := time.Since(queued); waited > m.locks.others {
				return applied, &PartialError{Applied: applied, Err: &HeldError{Waited: waited, Holder: step.Holder, Err: err}}
			}
		}
		m.onStep(step)
		select {
		case <-ctx.Done():
			return applied, &PartialError{Applied: applied, Failed: current, Err: ctx.Err()}
		case <-time.After(step.Pause):
		}
	}
}

// try lets tern run what the database has not gone through yet. It returns what was applied and, with an error, the migration that failed; zero if
// it was none.
func (m *Migrator) try(ctx context.Context, conn *pgx.Conn, migrations []Migration) (
	applied []Migration, failed Migration, err error,
) {
	if err := m.setSession(ctx, conn); err != nil {
		return nil, Migration{}, err
	}
	runner, err := tern.NewMigrator(ctx, conn, m.qualified(versionTable))
	if err != nil {
		return nil, Migration{}, fmt.Errorf("prepare version table: %w", err)
	}
	for _, migration := range migrations {
		runner.AppendMigration(migration.Name, migration.SQL, "")
	}
	var begun []Migration
	runner.OnStart = func(version int32, _, _, _ string) {
		migration := migrations[version-1]
		begun = append(begun, migration)
		m.onStep(Step{Action: Apply, Schema: m.schema, Migration: migration})
		// tern resets all settings after each migration. An error here is one of the connection, which the migration
		// itself is about to meet.
		_ = m.setSession(ctx, conn)
	}
	err = runner.MigrateTo(ctx, int32(len(migrations)))
	if err == nil || len(begun) == 0 {
		return begun, Migration{}, err
	}
	last := len(begun) - 1
	return begun[:last], begun[last], err
}

// setSession sets the time to wait for a lock, and the path that a pooler may have kept from the connection. It does so
// for the session, as migrations that run outside a transaction need it too. The time is no startup parameter, which
// poolers would refuse.
func (m *Migrator) setSession(ctx context.Context, conn *pgx.Conn) error {
	milliseconds := (m.locks.timeout + time.Millisecond - 1).Milliseconds()
	_, err := conn.Exec(ctx, `
		select pg_catalog.set_config('lock_timeout', $1::pg_catalog.text, false),
		       pg_catalog.set_config('search_path', $2::pg_catalog.text, false)`,
		strconv.FormatInt(milliseconds, 10), connection.OwnPath)
	if err != nil {
		return fmt.Errorf("set lock timeout and path: %w", err)
	}
	return nil
}

func isLockConflict(err error) bool {
	return isCode(err, "55P03") || isCode(err, "40P01")
}

// PartialError is the error of a run that had begun. What it had applied stays; of the failed migration nothing stays.
type PartialError struct {
	Applied []Migration // by this run, before the failure
	Failed  Migration   // zero if it was not a migration that failed
	Err     error
}

// Error says what failed, where in the SQL, and what was applied before.
func (e *PartialError) Error() string {
	text := fmt.Sprintf("migrate: %v", e.Err)
	if e.Failed.Version > 0 {
		text = fmt.Sprintf("apply %s: %s", e.Failed.Name, describe(e.Err))
	}
	if isLockConflict(e.Err) && e.Failed.Version > 0 {
		text += "; another session holds the lock: look for long transactions in pg_stat_activity, then try again"
	}
	if len(e.Applied) > 0 {
		text += fmt.Sprintf("; the schema stays at version %d", e.Applied[len(e.Applied)-1].Version)
	}
	return text
}

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error { return e.Err }

// describe adds line, column and text to an error that has a position in the SQL.
func describe(err error) string {
	var failure tern.MigrationPgError
	if !errors.As(err, &failure) {
		return err.Error()
	}
	text := failure.PgError.Error()
	if failure.Position == 0 {
		return text
	}
	place, err := tern.ExtractErrorLine(failure.Sql, byteOffset(failure.Sql, int(failure.Position)))
	if err != nil {
		return text
	}
	column := utf8.RuneCountInString(place.Text[:place.ColumnNum-1]) + 1
	return fmt.Sprintf("line %d, column %d: %s, at: %s", place.LineNum, column, text, place.Text)
}

// byteOffset turns PostgreSQL's position, which counts characters, into tern's, which counts bytes; both start at 1. The
// position after the end, where PostgreSQL misses something, becomes that of the last byte.
func byteOffset(text string, position int) int {
	characters := 0
	for offset := range text {
		characters++
		if characters == position {
			return offset + 1
		}
	}
	return len(text)
}
