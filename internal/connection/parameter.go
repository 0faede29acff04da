package connection

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// foreign are parameters of other clients, which the server would refuse as settings that it does not know, with what
// to write instead.
var foreign = map[string]string{
	// Booleans and modes of TLS.
	"ssl": "write sslmode=require, or sslmode=disable", "requiressl": "write sslmode=require",
	"sslaccept":   "write sslmode=require or sslmode=verify-full",
	"sslidentity": "write sslcert and sslkey", "sslfactory": "write sslmode", "uselibpqcompat": "leave it out",
	// Prisma.
	"schema": "use --schema", "connection_limit": "write pool_max_conns", "pool_timeout": "leave it out",
	"pgbouncer":      "leave it out",
	"socket_timeout": "write statement_timeout, in milliseconds", "statement_cache_size": "leave it out",
	"single_use_connections": "leave it out",
	// libpq.
	"hostaddr": "write host", "fallback_application_name": "write application_name", "keepalives": "leave it out",
	"keepalives_idle":     "leave it out",
	"keepalives_interval": "leave it out", "keepalives_count": "leave it out", "tcp_user_timeout": "leave it out",
	"gssencmode": "leave it out",
	"gsslib":     "leave it out", "gssdelegation": "leave it out", "load_balance_hosts": "leave it out",
	"requirepeer": "leave it out",
	"requireauth": "write require_auth", "ssl_min_protocol_version": "leave it out",
	"ssl_max_protocol_version": "leave it out",
	"sslcompression":           "leave it out", "sslcrl": "leave it out", "sslcrldir": "leave it out",
	"sslkeylogfile":    "leave it out",
	"scram_client_key": "write password", "scram_server_key": "write password",
	// JDBC, npm's pg, SQLAlchemy, Rails, Django.
	"currentSchema": "use --schema", "ApplicationName": "write application_name",
	"socketTimeout": "write statement_timeout, in milliseconds",
	"query_timeout": "write statement_timeout, in milliseconds", "connectTimeout": "write connect_timeout, in seconds",
	"connectionTimeoutMillis": "write connect_timeout, in seconds",
	"idleTimeoutMillis":       "write pool_max_conn_idle_time", "max": "write pool_max_conns",
	"pool": "write pool_max_conns", "pool_size": "write pool_max_conns", "max_size": "write pool_max_conns",
	"encoding": "write client_encoding",
	"adapter":  "leave it out", "prepared_statements": "leave it out", "binary_parameters": "leave it out",
	"conn_max_age":                  "leave it out",
	"prepared_statement_cache_size": "leave it out",
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
