package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	tern "github.com/jackc/tern/v2/migrate"
)

// Indexes are the indexes of the jobs that [Migrator.Tune] chooses. Our functions and workers work with either set.
type Indexes string

const (
	// ForNode are Graphile Worker's: a unique index of all keys, and the one that claims of Node workers read. A new
	// or adopted queue has them.
	ForNode Indexes = "node"

	// WithoutNode are those of a queue that no Node worker uses: a unique index of the keys that are not null.
	WithoutNode Indexes = "without node"

	// NoKeys means that no index makes keys unique, after a change by hand: jobs with a key cannot be added.
	NoKeys Indexes = "no unique keys"
)

// Tune gives the jobs these indexes, ForNode or WithoutNode, and returns whether they had others. It builds them in one
// transaction under a lock of the jobs, for which it waits like a migration. Until that ends, all workers and
// producers wait: docs/performance.md says for how long. If it fails or is interrupted, nothing has changed, and it can be
// called again. Its error is a [*Refusal] if there is no up-to-date queue, if this role may not change it, or, for
// WithoutNode, if Node workers were seen.
func (m *Migrator) Tune(ctx context.Context, wanted Indexes) (changed bool, err error) {
	if wanted != ForNode && wanted != WithoutNode {
		return false, fmt.Errorf("tune: indexes are %q, must be %q or %q", wanted, ForNode, WithoutNode)
	}
	conn, err := m.connectToChange(ctx)
	if err != nil {
		return false, err
	}
	defer m.disconnect(ctx, conn)
	query := fmt.Sprintf("select exists (select from %s($1))", m.qualified("_gw_tune_steps"))
	if err := conn.QueryRow(ctx, query, wanted == ForNode).Scan(&changed); err != nil {
		return false, fmt.Errorf("tune: %w", err)
	}
	if !changed {
		return false, nil
	}
	m.onStep(Step{Action: Tune, Schema: m.schema, Indexes: wanted})
	return true, m.tune(ctx, conn, wanted)
}

// tune waits for the lock as apply does.
func (m *Migrator) tune(ctx context.Context, conn *pgx.Conn, wanted Indexes) error {
	statement := fmt.Sprintf("select %s(%t)", m.qualified("_gw_tune"), wanted == ForNode)
	for try := 1; ; try++ {
		if err := m.setSession(ctx, conn); err != nil {
			return err
		}
		err := tern.LockExecTx(ctx, conn, statement)
		switch {
		case err == nil:
			return nil
		case isCode(err, "GWNWS"):
			return refuseNode(err)
		case !isLockConflict(err):
			return fmt.Errorf("tune: %w; nothing is changed", err)
		case try == m.locks.tries:
			return fmt.Errorf("tune: %w; nothing is changed; another session holds the lock, or migrates: look for long "+
				"transactions in pg_stat_activity, then try again", err)
		}
		step := Step{Action: Tune, Schema: m.schema, Indexes: wanted, Pause: m.locks.pause(try - 1), Err: err}
		m.onStep(step)
		select {
		case <-ctx.Done():
			return fmt.Errorf("tune: %w; nothing is changed", ctx.Err())
		case <-time.After(step.Pause):
		}
	}
}

func refuseNode(err error) *Refusal {
	var raised *pgconn.PgError
	errors.As(err, &raised)
	return &Refusal{Reason: ReasonNode, Problem: raised.Message, WayOut: raised.Hint}
}

// readIndexes reads which indexes the jobs have.
func (m *Migrator) readIndexes(ctx context.Context, tx pgx.Tx, status *Status) error {
	var all, some bool
	err := tx.QueryRow(ctx, `
		select coalesce(bool_or(i.indpred is null), false), coalesce(bool_or(i.indpred is not null), false)
		  from pg_catalog.pg_index as i
		  join pg_catalog.pg_class as c on c.oid = i.indrelid
		  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		  join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum = i.indkey[0]
		 where n.nspname = $1
		   and c.relname = '_private_jobs'
		   and a.attname = 'key'
		   and i.indisunique and i.indisvalid and i.indnatts = 1
		   and (i.indpred is null or pg_catalog.pg_get_expr(i.indpred, c.oid) = '(key IS NOT NULL)')`,
		m.schema).Scan(&all, &some)
	if err != nil {
		return fmt.Errorf("read indexes: %w", err)
	}
	switch {
	case all:
		status.Indexes = ForNode
	case some:
		status.Indexes = WithoutNode
	default:
		status.Indexes = NoKeys
		status.Warnings = append(status.Warnings, fmt.Sprintf("no index of the jobs in schema %s makes keys unique, so jobs with a "+
			"key cannot be added; gw-migrate tune creates it", m.quoted()))
	}
	return nil
}
