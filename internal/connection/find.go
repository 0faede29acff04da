// Package connection determines the database to connect to and the schema of the queue, and opens sessions in which
// only PostgreSQL's own names are found.
package connection

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/hint"
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

// Schema returns the default of the flag --schema: GRAPHILE_WORKER_SCHEMA, otherwise graphile_worker. As it is only the
// default, an empty name given by the user stays empty and is refused.
func Schema(getenv func(string) string) string {
	return cmp.Or(getenv("GRAPHILE_WORKER_SCHEMA"), "graphile_worker")
}

// mistake returns what is wrong with a connection string that is written in a wrong form, "" if it finds nothing. The
// result contains no part of the string, which may hold a password.
func mistake(text string) string {
	if strings.HasPrefix(text, "jdbc:") {
		return "it is a URL for Java, with jdbc: at its beginning; write postgres://user:password@host:port/database"
	}
	if text != "" && strings.ContainsRune("'\"`", rune(text[0])) {
		return "there are quotes around it; write it without them"
	}
	scheme, rest, isURL := strings.Cut(text, "://")
	if !isURL || strings.Contains(scheme, "=") {
		return ""
	}
	if scheme != "postgres" && scheme != "postgresql" {
		return "it is a URL, but not one that begins with postgres://; write postgres://user:password@host:port/database"
	}
	if strings.ContainsAny(text, " \t\r\n") {
		return "there is a blank in it; in a URL, a blank is written as %20"
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, behind := rest[:end], rest[end:]
	path, _, _ := strings.Cut(behind, "?")
	switch {
	case strings.Count(authority, "@") > 1:
		return "there is more than one @ before the host; in a user or a password, @ is written as %40"
	case strings.Contains(behind, "#"):
		return "there is a # in it; in a user or a password, # is written as %23"
	case !strings.Contains(authority, "@") && strings.Contains(path, "@"):
		return "there is an @ after a /; in a user or a password, / is written as %2F"
	case !strings.Contains(authority, "@") && beginsWithPassword.MatchString(behind):
		return "there is an @ after a ?; in a user or a password, ? is written as %3F"
	}
	return ""
}

// beginsWithPassword matches a text before an @ that is not a parameter, because it contains no =.
var beginsWithPassword = regexp.MustCompile(`^\?[^=]*@`)

// parameters are the connection parameters of PostgreSQL clients. Any other name is a setting of the server.
var parameters = []string{
	"host", "port", "dbname", "database", "user", "password", "passfile", "connect_timeout", "sslmode", "sslkey",
	"sslcert", "sslrootcert", "sslpassword", "sslsni", "sslnegotiation", "target_session_attrs", "service",
	"servicefile", "application_name", "client_encoding", "options", "channel_binding", "require_auth",
	"pool_max_conns", "pool_min_conns", "sslcertmode", "replication", "pool_max_conn_lifetime",
	"pool_max_conn_idle_time", "pool_health_check_period",
}

// misspelt returns an error if a setting that would be sent to the server has a name similar to that of a parameter.
func misspelt(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if instead := insteadOf(name); instead != "" {
			return fmt.Errorf("there is no parameter %s here; %s", name, instead)
		}
		if slices.Contains(parameters, name) {
			continue
		}
		if !settingName.MatchString(name) {
			return errors.New("what stands before an = is not the name of a parameter; write postgres://user:password@host:port/database, or " +
				"a list such as host=h user=u dbname=d")
		}
		if meant := hint.Nearest(name, parameters, 2); meant != "" {
			return fmt.Errorf("there is no parameter %s; is %s meant?", name, meant)
		}
	}
	return nil
}
