package connection

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/hint"
)

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
