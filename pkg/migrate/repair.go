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

// Repaired is the result of Repair.
type Repaired struct {
	Replaced []Object // the restored objects, with their former origin
	Restored []string // what SQL's repair() has restored: rows and partitions that were lost
	Left     []Object // other objects that stay: functions with a shared name but other arguments, and objects of no release
}

// Repair restores the functions and triggers that differ from those of the schema's version: a later Graphile Worker
// may have replaced them, or they were changed or dropped by hand. It runs in one transaction. Its error is a
// [*Refusal] if there is no queue, or if this role may not change it.
func (m *Migrator) Repair(ctx context.Context) (Repaired, error) {
	conn, status, err := m.connectToChange(ctx, m.refuseRepair)
	if err != nil {
		return Repaired{}, err
	}
	defer m.disconnect(ctx, conn)

	statements, repaired := m.planRepair(status)
	for _, o := range repaired.Replaced {
		m.cfg.OnStep(Step{Action: Replace, Schema: m.schema, Object: o})
	}
	if err := m.replace(ctx, conn, statements); err != nil {
		return Repaired{}, err
	}
	if repaired.Restored, err = m.restore(ctx, conn, status); err != nil {
		return repaired, err
	}
	return repaired, nil
}

// restore calls repair() of the schema, if its version has that function.
func (m *Migrator) restore(ctx context.Context, conn *pgx.Conn, status Status) ([]string, error) {
	if !slices.ContainsFunc(status.Objects, func(o Object) bool { return o.plainName() == "repair" }) {
		return nil, nil
	}
	restored, err := collect(ctx, conn, pgx.RowTo[string],
		"select r.what || ': ' || r.lost from "+m.qualified("repair")+"() as r")
	if err != nil {
		return nil, fmt.Errorf("restore rows: %w", err)
	}
	return restored, nil
}

// connectToChange connects to the schema for a change of its objects. Its error is a [*Refusal] where refuse returns
// one, or where the server, the session or a pooler is in the way.
func (m *Migrator) connectToChange(ctx context.Context, refuse func(Status) *Refusal) (*pgx.Conn, Status, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, Status{}, err
	}
	status, err := m.inspect(ctx, conn)
	if err == nil {
		status.Refusal = refuse(status)
	}
	if err == nil && status.Refusal == nil {
		status.Refusal, err = m.preflight(ctx, conn, status.State)
	}
	if err == nil && status.Refusal != nil {
		err = status.Refusal
	}
	if err != nil {
		m.disconnect(ctx, conn)
		return nil, Status{}, err
	}
	return conn, status, nil
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

// planRepair returns the SQL that restores our objects, in the order of the migrations. It ends with the grants,
// because public may execute newly created functions.
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
	isApplyGrants := func(o Object) bool { return o.plainName() == "_gw_apply_grants" }
	if len(statements) > 0 && slices.ContainsFunc(status.Objects, isApplyGrants) {
		statements = append(statements, m.applyGrants())
	}
	return statements, repaired
}

// lastDefinition returns the index of the last definition with the recorded digest of o, -1 if there is none. The last
// one counts: a migration may have changed the arguments of a function without its body.
func (s Status) lastDefinition(definitions []definition, o Object) int {
	for i, d := range slices.Backward(definitions) {
		if d.kind == o.Kind && d.name == o.plainName() && d.digest == s.recorded[o] {
			return i
		}
	}
	return -1
}

// replace runs the statements in one transaction under the lock of migrations.
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
