package connection

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/hint"
)

// mistake returns what is wrong with a connection string that is written in a wrong form, "" if it finds nothing. The result
// contains no part of the string, which may hold a password.
func mistake(text string) string {
	if strings.HasPrefix(text, "jdbc:") {
		return "it is a URL for Java, with jdbc: at its beginning; write postgres://user:password@host:port/database"
	}
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		return ""
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
	"host", "hostaddr", "port", "dbname", "database", "user", "password", "passfile", "connect_timeout", "sslmode", "sslkey",
	"sslcert", "sslrootcert", "sslpassword", "sslsni", "sslnegotiation", "target_session_attrs", "service", "servicefile",
	"application_name", "client_encoding", "options", "channel_binding", "require_auth", "pool_max_conns", "pool_min_conns",
	"sslcrl", "sslcrldir", "sslcompression", "sslcertmode", "gssencmode", "replication", "pool_max_conn_lifetime", "pool_max_conn_idle_time", "pool_health_check_period",
}

// misspelt returns an error if a setting that would be sent to the server has a name similar to that of a parameter.
func misspelt(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if slices.Contains(parameters, name) {
			continue
		}
		if meant := hint.Nearest(name, parameters, 2); meant != "" {
			return fmt.Errorf("there is no parameter %s; is %s meant?", name, meant)
		}
	}
	return nil
}
