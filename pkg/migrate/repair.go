package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"
)

// Repaired is what Repair has done.
type Repaired struct {
	Replaced []Object // what was put back, with whose it was before
	Left     []Object // what is not ours and stays: functions of a shared name with other arguments, and what no release made
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
	case status.State == Newer && status.Refusal == nil:
		return m.refuseToChangeNewer(status.Installed, status.Available)
	case status.State != Current && status.State != Behind && status.Refusal != nil:
		return status.Refusal
	case status.State != Current && status.State != Behind:
		return m.refuseAbsent()
	case status.breaking > 0:
		return m.refuseRevision(status.breaking)
	}
	return status.rights
}

// planRepair returns the SQL that puts ours back, in the order in which migrations made it. What is made anew is open to
// everybody, and was perhaps not to be: so the rights of roles are given again.
func (m *Migrator) planRepair(status Status) (statements []string, repaired Repaired) {
	definitions := m.definitions(m.migrations[:status.Installed])
	replaced := make(map[int]Object) // by the definition
	for _, o := range status.Changed() {
		if i := status.lastDefinition(definitions, o); i >= 0 {
			replaced[i] = o
		} else {
			repaired.Left = append(repaired.Left, o)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(replaced)) {
		statements = append(statements, definitions[i].sql)
		repaired.Replaced = append(repaired.Replaced, replaced[i])
	}
	if len(statements) > 0 && slices.ContainsFunc(status.Objects, isApplyGrants) {
		statements = append(statements, m.applyGrants())
	}
	return statements, repaired
}

// lastDefinition returns the index of the definition that makes o as it is recorded, -1 if there is none. It is the last one:
// a migration may have given a function other arguments and left its body as it was.
func (s Status) lastDefinition(definitions []definition, o Object) int {
	for i, d := range slices.Backward(definitions) {
		if d.kind == o.Kind && d.name == o.plainName() && d.digest == s.recorded[o] {
			return i
		}
	}
	return -1
}

func isApplyGrants(o Object) bool { return o.plainName() == "_gw_apply_grants" }

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
