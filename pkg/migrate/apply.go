package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/internal/connection"
)

type lockPolicy struct {
	timeout time.Duration // per attempt
	tries   int           // per migration
	others  time.Duration // how long to wait for other migrating programs
	pause   func(waits int) time.Duration
}

// pauseBeforeRetry returns 1 s, 2 s, 4 s, 8 s, then 10 s, so that statements of the application that waited behind us
// can run.
func pauseBeforeRetry(waits int) time.Duration {
	return min(time.Second<<min(waits, 4), 10*time.Second)
}

// apply applies the pending migrations and returns those that this call has applied. A migration that cannot get a lock
// is retried a limited number of times, because each attempt makes the application wait. Waiting for another migrating
// program does not disturb the application and may take longer. It is limited, too, because any role can hold that
// lock.
func (m *Migrator) apply(ctx context.Context, conn *pgx.Conn, pending []Migration) ([]Migration, error) {
	migrations := slices.Concat(m.migrations[:len(m.migrations)-len(pending)], pending)
	var applied []Migration
	tries := make(map[int32]int) // by version
	queued := time.Now()         // when the wait for other programs began
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
			step.Holder = findHolder(ctx, conn)
			if waited := time.Since(queued); waited > m.locks.others {
				return applied, &PartialError{Applied: applied, Err: &HeldError{Waited: waited, Holder: step.Holder,
					Err: err}}
			}
		}
		m.cfg.OnStep(step)
		select {
		case <-ctx.Done():
			return applied, &PartialError{Applied: applied, Failed: current, Err: ctx.Err()}
		case <-time.After(step.Pause):
		}
	}
}

// try lets tern run the pending migrations. It returns those that were applied and, with an error, the migration that
// failed, or a zero Migration if none failed.
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
		m.cfg.OnStep(Step{Action: Apply, Schema: m.schema, Migration: migration})
		// tern resets all settings after each migration. An error of the connection recurs in the migration
		// itself.
		_ = m.setSession(ctx, conn)
	}
	err = runner.MigrateTo(ctx, int32(len(migrations)))
	if err == nil || len(begun) == 0 {
		return begun, Migration{}, err
	}
	last := len(begun) - 1
	return begun[:last], begun[last], err
}

// setSession sets lock_timeout, and our own settings, which a pooler may have removed from the startup packet. It also
// lets the server create functions without compiling their bodies, as restores of pg_dump do, which is half of the time
// of an installation. It sets them for the session, because migrations that run outside a transaction need them too.
// They are no startup parameters, because poolers would refuse those.
func (m *Migrator) setSession(ctx context.Context, conn *pgx.Conn) error {
	milliseconds := (m.locks.timeout + time.Millisecond - 1).Milliseconds()
	_, err := conn.Exec(ctx, fmt.Sprintf("set lock_timeout = %d; set check_function_bodies = off%s", milliseconds,
		connection.Settings("session")), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return fmt.Errorf("set lock_timeout, check_function_bodies and our own settings: %w", err)
	}
	return nil
}

func isLockConflict(err error) bool {
	return isCode(err, "55P03") || isCode(err, "40P01")
}

// PartialError is the error of a run that had begun. Migrations that it has applied stay; the failed one was rolled
// back.
type PartialError struct {
	Applied []Migration // by this run, before the failure
	Failed  Migration   // zero if no migration failed
	Err     error
}

// Error returns which migration failed, the position in its SQL, and which were applied before.
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

// byteOffset converts PostgreSQL's position, in characters, to tern's, in bytes; both start at 1. The
// position after the end, where PostgreSQL reports missing input, becomes that of the last byte.
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
