package connection

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// OwnPath is the search_path of a session that runs our statements only: no function, operator or type that somebody else
// made comes before PostgreSQL's own.
const OwnPath = "pg_catalog, pg_temp"

// SpeakUTF8 lets the server convert to and from UTF-8, which is what texts are in Go, whatever the encoding of the
// database and the role's own setting. Poolers know this parameter.
func SpeakUTF8(config *pgx.ConnConfig) { config.RuntimeParams["client_encoding"] = "UTF8" }

// Connect makes a connection with [OwnPath]. A pooler that does not take the path from a connection gets none.
func Connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	pinned := config.Copy()
	pinned.RuntimeParams["search_path"] = OwnPath
	conn, err := pgx.ConnectConfig(ctx, pinned)
	if RefusesPath(err) {
		return pgx.ConnectConfig(ctx, config.Copy())
	}
	return conn, err
}

// RefusesPath reports whether an error is that of a pooler that does not take a search_path from a connection.
func RefusesPath(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && strings.Contains(refusal.Message, "unsupported startup parameter: search_path")
}
