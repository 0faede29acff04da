package connection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNone is returned by [FromFlag] and [Find] when nothing says which database to use.
var ErrNone = errors.New("no database given")

// FromFlag is [Find] for a command, whose flag is --connection.
func FromFlag(flag string, getenv func(string) string) (string, error) {
	return Find(flag, "--connection", getenv)
}

// Find returns the connection string to use: the given one, else that of DATABASE_URL, else the empty string if
// PGHOST, PGDATABASE or PGSERVICE is set, which leaves everything to the PG* variables. The result is checked:
// [pgxpool.ParseConfig] takes it. Errors call the given one by its name.
//
// A string can be a URL, a list of key=value, or the bare name of a database.
//
// getenv looks up the variables named here; the other PG* variables are read by pgx from the process's environment.
// Errors never contain the string if it can hold a password.
func Find(given, name string, getenv func(string) string) (string, error) {
	text, source := given, name
	if text == "" {
		text, source = getenv("DATABASE_URL"), "DATABASE_URL"
	}
	if text == "" {
		if getenv("PGHOST") == "" && getenv("PGDATABASE") == "" && getenv("PGSERVICE") == "" {
			return "", fmt.Errorf("%w: pass %s, or set DATABASE_URL, or one of PGHOST, PGDATABASE and PGSERVICE",
				ErrNone, name)
		}
		source = "the PG* variables"
	}

	if reason := mistake(text); reason != "" {
		return "", fmt.Errorf("read connection from %s: %s", source, reason)
	}
	if isDatabaseName(text) {
		text = "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		if canHoldPassword(text) {
			return "", fmt.Errorf("read connection from %s: it is neither a URL (postgres://user@host:port/database) nor a "+
				"list of key=value nor a database name; it is not shown here as it may hold a password, in which a URL "+
				"wants special characters written as %%XX", source)
		}
		return "", fmt.Errorf("read connection from %s: %w", source, err)
	}
	if err := misspelt(config.ConnConfig.RuntimeParams); err != nil {
		return "", fmt.Errorf("read connection from %s: %w", source, err)
	}
	return text, nil
}

// isDatabaseName tells a bare name from a URL or key=value list. What has an @ is taken for a URL without its scheme
// rather than for a name, lest its password be reported as the name of a missing database.
func isDatabaseName(text string) bool {
	return text != "" && !strings.ContainsAny(text, "=@") && !strings.Contains(text, "://")
}

func canHoldPassword(text string) bool {
	return strings.Contains(text, "@") || strings.Contains(text, "password")
}
