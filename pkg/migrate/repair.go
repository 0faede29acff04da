package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"
)

// Repaired is what Repair has done.
type Repaired struct {
	Replaced []Object // what was put back, with whose it was before
	Left     []Object // what is not ours and in nobody's place: functions of a shared name with other arguments
}

// Repair puts back the functions and triggers that are not as the schema's version has them: a later Graphile Worker may
// have replaced them, or somebody may have changed or dropped them. It is one transaction. Its error is a [*Refusal] if
// there is nothing of ours, or not for this role to change.
func (m *Migrator) Repair(ctx context.Context) (Repaired, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return Repaired{}, err
	}
	defer m.disconnect(ctx, conn)

	status, err := m.inspect(ctx, conn)
	if err != nil {
		return Repaired{}, err
	}
	if refusal := m.refuseRepair(status); refusal != nil {
		return Repaired{}, refusal
	}
	refusal, err := m.preflight(ctx, conn, status.State)
	if err != nil {
		return Repaired{}, err
	}
	if refusal != nil {
		return Repaired{}, refusal
	}

	statements, repaired := m.planRepair(status)
	for _, o := range repaired.Replaced {
		m.onStep(Step{Action: Replace, Schema: m.schema, Object: o})
	}
	if err := m.replace(ctx, conn, statements); err != nil {
		return Repaired{}, err
	}
	return repaired, nil
}

func (m *Migrator) refuseRepair(status Status) *Refusal {
	switch {
	case status.State != Current && status.State != Behind && status.Refusal != nil:
		return status.Refusal
	case status.State != Current && status.State != Behind:
		return m.refuseAbsent()
	case status.breaking > 0:
		return m.refuseRevision(status.breaking)
	}
	return status.rights
}

// planRepair returns the SQL that puts ours back, in the order in which it was made. What is made anew is open to
// everybody, and was perhaps not to be.
func (m *Migrator) planRepair(status Status) (statements []string, repaired Repaired) {
	definitions := m.definitions(m.migrations[:status.Installed])
	for i, o := range status.Objects {
		switch {
		case o.Origin == Ours:
		case i < len(definitions):
			repaired.Replaced = append(repaired.Replaced, o)
			statements = append(statements, definitions[i].sql)
		default:
			repaired.Left = append(repaired.Left, o)
		}
	}
	if len(statements) > 0 && slices.ContainsFunc(definitions, isApplyGrants) {
		statements = append(statements, m.applyGrants())
	}
	return statements, repaired
}

func isApplyGrants(d definition) bool { return d.object.plainName() == "_gw_apply_grants" }

// replace runs the statements in one transaction while nobody migrates.
func (m *Migrator) replace(ctx context.Context, conn *pgx.Conn, statements []string) error {
	if len(statements) == 0 {
		return nil
	}
	if err := m.setSession(ctx, conn); err != nil {
		return err
	}
	err := tern.LockExecTx(ctx, conn, strings.Join(statements, "\n"))
	if isLockConflict(err) {
		return fmt.Errorf("repair: %w; nothing is changed; another session holds the lock, or migrates: try again", err)
	}
	if err != nil {
		return fmt.Errorf("repair: %w; nothing is changed", err)
	}
	return nil
}
