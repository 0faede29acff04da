package connection

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// OwnPath is the search_path of a session that runs only our own statements: functions, operators and types of other schemas
// cannot hide PostgreSQL's own.
const OwnPath = "pg_catalog, pg_temp"

// SpeakUTF8 sets client_encoding to UTF-8, the encoding of texts in Go, whatever the encoding of the database and the setting
// of the role. Poolers know this parameter.
func SpeakUTF8(config *pgx.ConnConfig) { config.RuntimeParams["client_encoding"] = "UTF8" }

// Connect opens a connection with [OwnPath]. If a pooler does not accept a search_path, the connection has none.
func Connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	pinned := config.Copy()
	pinned.RuntimeParams["search_path"] = OwnPath
	conn, err := pgx.ConnectConfig(ctx, pinned)
	if RefusesPath(err) {
		return pgx.ConnectConfig(ctx, config.Copy())
	}
	return conn, err
}

// RefusesPath reports whether an error is the one of a pooler that does not accept a search_path in the startup parameters.
func RefusesPath(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && strings.Contains(refusal.Message, "unsupported startup parameter: search_path")
}
