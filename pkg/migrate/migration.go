package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/gwsql/gw/sql"
)

// A Migration is one numbered step of the schema.
type Migration struct {
	Version int32  // the schema's version once the migration is applied
	Name    string // the file's name
	SQL     string // what is run, for the schema's name
	Adopted bool   // Graphile Worker has done what it does, so that only its version is recorded
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
	// Without a connection tern only loads and renders; it does not look at the version table then.
	loader, err := tern.NewMigrator(context.Background(), nil, "")
	if err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	loader.Data = templateData(schema)
	if err := loader.LoadMigrations(files); err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	if len(loader.Migrations) == 0 {
		return nil, errors.New("load migrations: there are none")
	}
	migrations := make([]Migration, len(loader.Migrations))
	for i, m := range loader.Migrations {
		migrations[i] = Migration{Version: m.Sequence, Name: m.Name, SQL: m.UpSQL}
	}
	return migrations, nil
}

// templateData is what the templates in sql/ are rendered with.
func templateData(schema string) map[string]any {
	return map[string]any{"schema": pgx.Identifier{schema}.Sanitize()}
}

// safelyQuoted returns files as they are unless the schema's name contains $$, which would end every function body that
// mentions it. Then each $$ in them becomes a dollar quote that the name does not contain.
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

// requotedFiles shows the files of another file system with another dollar quote instead of $$.
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
