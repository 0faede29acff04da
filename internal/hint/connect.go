package hint

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"
)

// For returns err, with a remedy if it contains an error of the database for which one is known, and with a shorter
// text if it contains a failed connection.
func For(err error) error {
	err = shorten(err)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case "3D000":
		return fmt.Errorf("%w; create it with: %s", err, createdb(refusal.Message))
	case "42704":
		if unknown := unknownSetting.FindStringSubmatch(refusal.Message); unknown != nil &&
			refusal.Severity == "FATAL" {
			return fmt.Errorf("%w; the connection string or the environment names %s, which is neither a parameter of the connection "+
				"nor a setting of the server: remove it, or correct its name", err, unknown[1])
		}
	case "25006":
		return fmt.Errorf("%w; the server is read-only: it is a standby, or default_transaction_read_only is on. "+
			"Connect to the primary, for example with target_session_attrs=read-write", err)
	}
	return err
}

var unknownSetting = regexp.MustCompile(`^unrecognized configuration parameter "([^"]+)"`)

var plainName = regexp.MustCompile(`^database "([A-Za-z0-9_]+)" does not exist$`)

// createdb returns the command that creates the database that a message names.
func createdb(message string) string {
	if name := plainName.FindStringSubmatch(message); name != nil {
		return "createdb " + name[1]
	}
	return "createdb"
}
