package migrate

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/graphile"
)

// functionsVersion is the version of the migration that replaces Graphile Worker's functions. The rows that it needs in
// the ledger are written in its transaction.
const functionsVersion = 3

// classifyGraphile examines a schema that Graphile Worker has created, and plans its adoption: the first migration is
// recorded but not run, because its objects exist. A ledger at an older revision is completed.
func (m *Migrator) classifyGraphile(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	ledger, err := m.readLedger(ctx, tx)
	if isCode(err, "42703") {
		status.State = Foreign
		status.Refusal = m.refuseForeign("a table migrations that is not Graphile Worker's")
		return nil
	}
	if err != nil {
		return err
	}
	if len(ledger) == 0 {
		status.State = HalfMade
		status.Refusal = m.refuseHalfMade("it has tables of Graphile Worker but nothing in its table migrations")
		return nil
	}
	status.State = Graphile
	status.Revision = ledger.newest()
	if status.Refusal = m.refuseLedger(ledger); status.Refusal != nil {
		return nil
	}

	missing, err := m.missingFromContract(ctx, tx, e)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		status.State = HalfMade
		status.Refusal = m.refuseHalfMadeGraphile(status.Revision, missing)
		return nil
	}
	if err := m.readObjects(ctx, tx, e, status); err != nil {
		return err
	}
	inTheWay, err := m.inTheWay(ctx, tx, e)
	if err != nil {
		return err
	}
	if len(inTheWay) > 0 {
		status.Refusal = m.refuseInTheWay(inTheWay)
		return nil
	}
	if err := m.readUsers(ctx, tx, status); err != nil {
		return err
	}
	m.plan(ledger, status)
	return nil
}

// readUsers reads the roles other than the owner that call the queue's functions, and the user's functions that these
// call.
func (m *Migrator) readUsers(ctx context.Context, tx pgx.Tx, status *Status) (err error) {
	if status.Roles, err = callBody[Role](ctx, m, tx, "_gw_direct_roles"); err != nil {
		return fmt.Errorf("read roles: %w", err)
	}
	if status.Unpinned, err = callBody[Unpinned](ctx, m, tx, "_gw_unpinned_functions"); err != nil {
		return fmt.Errorf("read functions without a search_path: %w", err)
	}
	return nil
}

// callBody returns the rows of the body of one of our functions, because the function itself may not be installed yet;
// none if no migration creates it.
func callBody[T any](ctx context.Context, m *Migrator, tx pgx.Tx, function string) ([]T, error) {
	body := m.bodyOf(function)
	if body == "" {
		return nil, nil
	}
	return collect(ctx, tx, pgx.RowToStructByPos[T], body)
}

// plan lists the migrations that the adoption applies, and its warnings.
func (m *Migrator) plan(ledger ledger, status *Status) {
	status.Pending = slices.Clone(m.migrations)
	status.Pending[0].SQL, status.Pending[0].Adopted = "select", true
	switch {
	case ledger.isRust():
		status.warn("the table migrations of schema %s, at %d, seems to be that of Graphile Worker's port to Rust: "+
			"nothing is written to it", m.quoted(), ledger.newest())
	case ledger.newest() > graphile.Revision:
		status.warn("schema %s is at revision %d of Graphile Worker, which this program does not know; as nothing "+
			"since %d is marked as breaking, it goes on", m.quoted(), ledger.newest(), graphile.Revision)
	}
	for _, o := range status.Objects {
		if o.Origin == Unknown {
			status.warn("%s is not as Graphile Worker makes it; ours takes the place of those that it has", o)
		}
	}
	m.planFunctions(ledger, status)
	m.planPaths(status)
}

// planFunctions completes the ledger in the transaction that replaces Graphile Worker's functions by those of gw, which
// correspond to graphile.Revision. Without the row, a Node worker of that revision would replace them at its next
// start.
func (m *Migrator) planFunctions(ledger ledger, status *Status) {
	if !ledger.lacksRevisions() {
		return
	}
	if status.Refusal = m.refuseLedger(ledger); status.Refusal != nil {
		return
	}
	if ledger.newest() == oldestRevision {
		status.warn("Node workers older than 0.17 will refuse to start from now on, and those that run stop with " +
			"exit code 57")
	}
	status.prepend(functionsVersion, m.recordRevisions(ledger.newest()+1))
}

func (s *Status) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// prepend puts SQL before that of a pending migration, in its transaction.
func (s *Status) prepend(version int32, text string) {
	s.Pending = slices.Clone(s.Pending)
	for i, migration := range s.Pending {
		if migration.Version == version {
			s.Pending[i].SQL = text + migration.SQL
		}
	}
}

// refuseLedger returns why a schema with this ledger cannot be adopted; nil if it can.
func (m *Migrator) refuseLedger(l ledger) *Refusal {
	newest, rust := l.newest(), l.isRust()
	switch {
	case !m.cfg.Adopt:
		return m.refuseGraphile(newest)
	case newest < oldestRevision:
		return m.refuseOldRevision(newest)
	case rust && newest > newestRustRevision:
		return m.refuseRust(newest)
	case l.newestBreaking() > 0:
		return m.refuseRevision(l.newestBreaking())
	case !rust && newest == oldestRevision && !m.cfg.From18:
		return m.refuse18()
	}
	return nil
}
