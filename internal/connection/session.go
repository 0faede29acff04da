package connection

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// OwnPath is the search_path of a session that runs only our own statements: functions, operators and types of other
// schemas cannot hide PostgreSQL's own.
const OwnPath = "pg_catalog, pg_temp"

// driverSettings are the settings on which pgx relies.
var driverSettings = map[string]string{"client_encoding": "UTF8", "standard_conforming_strings": "on"}

// pooledSettings are the settings of a session of ours that poolers know, ownSettings the others. The database or the
// role may have other values.
var (
	pooledSettings = map[string]string{"datestyle": "ISO, MDY", "timezone": "UTC"}
	ownSettings    = map[string]string{
		"search_path":                   OwnPath,
		"intervalstyle":                 "postgres",
		"bytea_output":                  "hex",
		"extra_float_digits":            "1",
		"array_nulls":                   "on",
		"quote_all_identifiers":         "off",
		"default_transaction_isolation": "read committed",
	}
)

// Speak sets what pgx relies on, such as the encoding of texts in Go, whatever the settings of the database and of the
// role. Poolers know these parameters.
func Speak(config *pgx.ConnConfig) { set(config, driverSettings) }

// Pin gives a session that runs only our own statements the settings on which they rely. A pooler may refuse them; then
// pooled leaves out those that poolers do not know.
func Pin(config *pgx.ConnConfig, pooled bool) {
	set(config, driverSettings)
	set(config, pooledSettings)
	if !pooled {
		set(config, ownSettings)
	}
}

// Settings returns the statements, each after a semicolon, that give a session or a transaction the settings of [Pin].
// The scope is session or local.
func Settings(scope string) string {
	var text strings.Builder
	for _, settings := range []map[string]string{driverSettings, pooledSettings, ownSettings} {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			value := "'" + settings[name] + "'"
			if name == "search_path" {
				value = settings[name]
			}
			text.WriteString("; set " + scope + " " + name + " = " + value)
		}
	}
	return text.String()
}

// set replaces parameters, whose names have no case.
func set(config *pgx.ConnConfig, settings map[string]string) {
	for name, value := range settings {
		maps.DeleteFunc(config.RuntimeParams, func(other, _ string) bool { return strings.EqualFold(other, name) })
		config.RuntimeParams[name] = value
	}
}

// Connect opens a connection with the settings of [Pin], or with those that a pooler accepts.
func Connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	pinned := config.Copy()
	Pin(pinned, false)
	conn, err := pgx.ConnectConfig(ctx, pinned)
	if RefusesSettings(err) {
		pooled := config.Copy()
		Pin(pooled, true)
		return pgx.ConnectConfig(ctx, pooled)
	}
	return conn, err
}

// RefusesSettings reports whether an error is the one of a pooler that does not accept one of the settings of [Pin].
func RefusesSettings(err error) bool {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return false
	}
	_, name, ok := strings.Cut(refusal.Message, "unsupported startup parameter: ")
	_, isOurs := ownSettings[strings.ToLower(name)]
	return ok && isOurs
}
