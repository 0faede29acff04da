package connection

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// foreign are parameters of other clients (libpq, JDBC, Prisma, npm's pg, SQLAlchemy, Rails, Django), by what to write
// instead. The server would refuse them as settings that it does not know.
var foreign = map[string][]string{
	"write sslmode=require, or sslmode=disable":    {"ssl"},
	"write sslmode=require":                        {"requiressl"},
	"write sslmode=require or sslmode=verify-full": {"sslaccept"},
	"write sslcert and sslkey":                     {"sslidentity"},
	"write sslmode":                                {"sslfactory"},
	"leave it out": {"uselibpqcompat", "pool_timeout", "pgbouncer", "statement_cache_size", "single_use_connections",
		"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", "gssencmode",
		"gsslib", "gssdelegation", "load_balance_hosts", "requirepeer", "ssl_min_protocol_version",
		"ssl_max_protocol_version", "sslcompression", "sslcrl", "sslcrldir", "sslkeylogfile", "adapter",
		"prepared_statements", "binary_parameters", "conn_max_age", "prepared_statement_cache_size"},
	"use --schema":                             {"schema", "currentSchema"},
	"write pool_max_conns":                     {"connection_limit", "max", "pool", "pool_size", "max_size"},
	"write statement_timeout, in milliseconds": {"socket_timeout", "socketTimeout", "query_timeout"},
	"write host":                               {"hostaddr"},
	"write application_name":                   {"fallback_application_name", "ApplicationName"},
	"write require_auth":                       {"requireauth"},
	"write password":                           {"scram_client_key", "scram_server_key"},
	"write connect_timeout, in seconds":        {"connectTimeout", "connectionTimeoutMillis"},
	"write pool_max_conn_idle_time":            {"idleTimeoutMillis"},
	"write client_encoding":                    {"encoding"},
}

// insteadOf returns what to write instead of a parameter of another client, "" if it is none.
func insteadOf(name string) string {
	for instead, names := range foreign {
		if slices.Contains(names, name) {
			return instead
		}
	}
	return ""
}

// settingName matches the names of settings of the server, those of extensions included.
var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)*$`)

// listed matches the parameters of a list of key=value.
var listed = regexp.MustCompile(`([^\s=]+)\s*=\s*('(?:[^'\\]|\\.)*'|\S*)`)

// parametersOf returns the parameters of a connection string that can be read.
func parametersOf(text string) map[string]string {
	found := make(map[string]string)
	if _, rest, isURL := strings.Cut(text, "://"); isURL {
		rest, query, _ := strings.Cut(rest, "?")
		authority, _, _ := strings.Cut(rest, "/")
		hosts := authority[strings.LastIndexByte(authority, '@')+1:]
		for host := range strings.SplitSeq(hosts, ",") {
			if at := strings.LastIndexByte(host, ':'); at >= 0 && at > strings.LastIndexByte(host, ']') &&
				isBadPort(host[at+1:]) {
				found["port"] = host[at+1:]
			}
		}
		values, _ := url.ParseQuery(query) // what can be read of it
		for name := range values {
			found[name] = values.Get(name)
		}
		return found
	}
	for _, match := range listed.FindAllStringSubmatch(text, -1) {
		found[match[1]] = strings.Trim(match[2], "'")
	}
	return found
}

func isBadPort(text string) bool {
	for port := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
			return true
		}
	}
	return false
}

var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// badValue returns which parameter of a connection string, or which variable, has a value that it cannot have, "" if it
// finds none. It shows no value, which may be a part of a password that was not escaped.
func badValue(text string, getenv func(string) string) string {
	given := parametersOf(text)
	for _, p := range []struct {
		name, variable string
		isBad          func(string) bool
		instead        string
	}{
		{"sslmode", "PGSSLMODE", func(v string) bool { return !slices.Contains(sslModes, v) },
			"is one of " + strings.Join(sslModes, ", ") + "; require does not verify the certificate"},
		{"connect_timeout", "PGCONNECT_TIMEOUT", func(v string) bool { _, err := strconv.Atoi(v); return err != nil },
			"is a number of seconds without a unit, such as 5"},
		{"port", "PGPORT", isBadPort, "is a number from 1 to 65535; if it is a part of a password, special characters are written as %XX"},
	} {
		name, value := p.name, given[p.name]
		if value == "" {
			name, value = p.variable, getenv(p.variable)
		}
		if value != "" && p.isBad(value) {
			return fmt.Sprintf("%s %s", name, p.instead)
		}
	}
	return ""
}
