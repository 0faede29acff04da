package migrate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// preflight checks for problems that would stop a migration half-way: a read-only server, a missing privilege, a
// pooler. It only reads.
func (m *Migrator) preflight(ctx context.Context, conn *pgx.Conn, state State) (*Refusal, error) {
	var (
		standby, readOnly, mayCreate bool
		user, database               string
	)
	err := conn.QueryRow(ctx, `
		select pg_catalog.pg_is_in_recovery(),
		       pg_catalog.current_setting('transaction_read_only')::boolean,
		       pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create'),
		       current_user::text,
		       pg_catalog.current_database()::text`,
	).Scan(&standby, &readOnly, &mayCreate, &user, &database)
	if err != nil {
		return nil, fmt.Errorf("check connection: %w", err)
	}
	switch {
	case standby:
		return refuseStandby(), nil
	case readOnly:
		return refuseReadOnly(), nil
	case state == Absent && !mayCreate:
		return m.refusePrivilege(user, database), nil
	}
	return m.findPooler(ctx, conn)
}
