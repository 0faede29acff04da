package migrate

import (
	_ "embed" // for router.sql
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shard"
)

//go:embed router.sql
var router string

// RouterSQL returns the SQL of functions that route calls of add_job and remove_job to the shards of a map, by PL/Proxy. schema
// is that of the queues and of these functions. Passwords are left out.
func RouterSQL(m shard.Map, schema string) (string, error) {
	if err := m.Check(); err != nil {
		return "", fmt.Errorf("print router: %w", err)
	}
	partitions := make([]string, shard.Count)
	for _, s := range m.Shards {
		text, err := keywords(s.Connection)
		if err != nil {
			return "", fmt.Errorf("print router: shard %s: %w", s.Name, err)
		}
		for _, slot := range s.Slots.List() {
			partitions[slot] = fmt.Sprintf("  p%d %s", slot, literal(text))
		}
	}
	cluster := schema + "_shards"
	return strings.NewReplacer(
		"SCHEMA", pgx.Identifier{schema}.Sanitize(),
		"SERVER", pgx.Identifier{cluster}.Sanitize(),
		"'CLUSTER'", literal(cluster),
		"PARTITIONS", strings.Join(partitions, ",\n"),
	).Replace(router), nil
}

var sessionAttributes = regexp.MustCompile(`target_session_attrs=([a-z-]+)`)

// keywords returns a connection string as key=value, which PL/Proxy needs.
func keywords(connection string) (string, error) {
	config, err := pgx.ParseConfig(connection)
	if err != nil {
		return "", err
	}
	hosts, ports := []string{config.Host}, []string{fmt.Sprint(config.Port)}
	for _, other := range config.Fallbacks { // one for each other host, and for each address without TLS
		if !slices.Contains(hosts, other.Host) {
			hosts, ports = append(hosts, other.Host), append(ports, fmt.Sprint(other.Port))
		}
	}
	quote := func(value string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
	}
	text := fmt.Sprintf("host=%s port=%s dbname=%s user=%s", quote(strings.Join(hosts, ",")), quote(strings.Join(ports, ",")),
		quote(config.Database), quote(config.User))
	if found := sessionAttributes.FindStringSubmatch(connection); found != nil {
		text += " target_session_attrs=" + found[1]
	}
	return text, nil
}
