package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/sql"
)

// A Migration is one numbered step of the schema.
type Migration struct {
	Version int32  // the schema's version once the migration is applied
	Name    string // the file's name
	SQL     string // rendered for the schema's name
	Adopted bool   // its objects exist in Graphile Worker's schema, so only its version is recorded
}

const versionTable = "_gw_schema_version"

// Available returns the version that this program brings a schema to.
func Available() (int32, error) {
	files, err := fs.Sub(sql.FS, "migrations")
	if err != nil {
		return 0, fmt.Errorf("open migrations: %w", err)
	}
	names, err := tern.FindMigrations(files)
	if err != nil {
		return 0, fmt.Errorf("find migrations: %w", err)
	}
	return int32(len(names)), nil
}

// loadMigrations renders the directory migrations of files for a schema.
func loadMigrations(files fs.FS, schema string) ([]Migration, error) {
	files, err := fs.Sub(safelyQuoted(files, schema), "migrations")
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	// Without a connection tern only loads and renders; it does not read the version table.
	loader, err := tern.NewMigrator(context.Background(), nil, "")
	if err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	loader.Data = templateData(schema)
	if err := loader.LoadMigrations(files); err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	if len(loader.Migrations) == 0 {
		return nil, errors.New("load migrations: no migrations found")
	}
	migrations := make([]Migration, len(loader.Migrations))
	for i, m := range loader.Migrations {
		migrations[i] = Migration{Version: m.Sequence, Name: m.Name, SQL: m.UpSQL}
	}
	return migrations, nil
}

// templateData is the data for the templates in sql/.
func templateData(schema string) map[string]any {
	return map[string]any{"schema": quote(schema)}
}

// safelyQuoted returns files unchanged unless the schema's name contains $$, which would end every function body that
// contains it. Then it replaces each $$ in them by a dollar quote that the name does not contain.
func safelyQuoted(files fs.FS, schema string) fs.FS {
	quote := dollarQuote(schema)
	if quote == "$$" {
		return files
	}
	return requotedFiles{files, quote}
}

// dollarQuote returns the quote around the function bodies for a schema's name.
func dollarQuote(schema string) string {
	if !strings.Contains(schema, "$$") {
		return "$$"
	}
	quote := "$gw$"
	for i := 1; strings.Contains(schema, quote); i++ {
		quote = fmt.Sprintf("$gw%d$", i)
	}
	return quote
}

// requotedFiles is a file system that returns the files of another one with $$ replaced by another dollar quote.
type requotedFiles struct {
	fs.FS
	quote string
}

func (f requotedFiles) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(f.FS, name)
	return bytes.ReplaceAll(text, []byte("$$"), []byte(f.quote)), err
}

func (f requotedFiles) Sub(dir string) (fs.FS, error) {
	files, err := fs.Sub(f.FS, dir)
	return requotedFiles{files, f.quote}, err
}

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
