package migrate

import (
	"fmt"
	"strings"

	"github.com/gwsql/gw/sql"
)

// SQL returns everything that a fresh install runs, for those who have a migration tool of their own: it creates the
// schema (not quoted; empty means graphile_worker), its objects, and the record of its version, so that Up continues
// from there. It contains no transaction control; run it in one transaction.
func SQL(schema string) (string, error) {
	cfg, err := Config{Schema: schema}.withDefaults()
	if err != nil {
		return "", err
	}
	migrations, err := loadMigrations(sql.FS, cfg.Schema)
	if err != nil {
		return "", err
	}

	m := Migrator{schema: cfg.Schema}
	var b strings.Builder
	fmt.Fprintf(&b, "-- gw, schema version %d. Run this once, in one transaction, as the role that is to own the schema.\n",
		len(migrations))
	fmt.Fprintf(&b, "\ncreate schema if not exists %s;\n", m.quoted())
	b.WriteString(m.installation(migrations))
	return b.String(), nil
}

// installation returns the SQL that runs the migrations in an empty schema and records its version.
func (m *Migrator) installation(migrations []Migration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "create table %s (version int4 not null primary key);\n", m.qualified(versionTable))
	fmt.Fprintf(&b, "insert into %s (version) values (%d);\n", m.qualified(versionTable), len(migrations))
	for _, migration := range migrations {
		fmt.Fprintf(&b, "\n-- %s\n\n%s\n", migration.Name, migration.SQL)
	}
	return b.String()
}
