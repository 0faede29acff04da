package connection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNone is returned by [FromFlag] and [Find] if no flag or variable gives a database.
var ErrNone = errors.New("no database given")

// FromFlag is [Find] for a command, whose flag is --connection.
func FromFlag(flag string, getenv func(string) string) (string, error) {
	return Find(flag, "--connection", getenv)
}

// Find returns the connection string to use: the given one, otherwise the one of DATABASE_URL, otherwise the empty
// string if PGHOST, PGDATABASE or PGSERVICE is set, so that the PG* variables apply. [pgxpool.ParseConfig] accepts the
// result. In errors the given string is called name.
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

	text = strings.TrimSpace(text)
	if reason := mistake(text); reason != "" {
		return "", fmt.Errorf("read connection from %s: %s", source, reason)
	}
	if isDatabaseName(text) {
		text = "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		if reason := badValue(text, getenv); reason != "" {
			return "", fmt.Errorf("read connection from %s: %s", source, reason)
		}
		if canHoldPassword(text) {
			return "", fmt.Errorf("read connection from %s: it is neither a URL (postgres://user@host:port/database) nor a "+
				"list of key=value nor a database name; it is not shown here as it may hold a password, in which a URL "+
				"requires special characters to be written as %%XX", source)
		}
		return "", fmt.Errorf("read connection from %s: %w", source, err)
	}
	if err := misspelt(config.ConnConfig.RuntimeParams); err != nil {
		return "", fmt.Errorf("read connection from %s: %w", source, err)
	}
	return text, nil
}

// isDatabaseName reports whether a text is a bare name, and not a URL or key=value list. A text with an @ is taken as a
// URL without its scheme, so that its password does not appear as the name of a missing database.
func isDatabaseName(text string) bool {
	return text != "" && !strings.ContainsAny(text, "=@") && !strings.Contains(text, "://")
}

func canHoldPassword(text string) bool {
	return strings.Contains(text, "@") || strings.Contains(text, "password")
}
