package migrate

import (
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/gwsql/gw/sql"
)

const (
	// ExtensionName is the name of the PostgreSQL extension that [Extension] writes.
	ExtensionName = "graphile_worker"

	// firstExtensionVersion is the oldest version that the extension can be upgraded from.
	firstExtensionVersion = 4

	// firstWithTrusted is the first major version of PostgreSQL with trusted extensions; in older ones the keyword is an
	// error.
	firstWithTrusted = 13
)

// An ExtensionFile is a file for the directory extension of PostgreSQL's shared files.
type ExtensionFile struct {
	Name string
	Text string
}

// ExtensionConfig configures [Extension].
type ExtensionConfig struct {
	// Schema is the name of the schema that the extension creates, not quoted. Default: graphile_worker.
	Schema string

	// PostgreSQL is the oldest major version that must be able to load the files. Default: 13. Set it to 12 for that
	// version, which has no trusted extensions; newer ones can load the files, too.
	PostgreSQL int
}

// Extension returns the files of a PostgreSQL extension with the same queue as Up installs: its control file, the
// script that installs it, and one for each step of an upgrade. The version of the extension is that of the schema.
// Up and Repair do not change a schema that belongs to an extension; it is upgraded by `alter extension`.
func Extension(cfg ExtensionConfig) ([]ExtensionFile, error) {
	return extensionFrom(cfg, sql.FS)
}

func extensionFrom(cfg ExtensionConfig, files fs.FS) ([]ExtensionFile, error) {
	checked, err := Config{Schema: cfg.Schema}.withDefaults()
	if err != nil {
		return nil, err
	}
	migrations, err := loadMigrations(files, checked.Schema)
	if err != nil {
		return nil, err
	}
	data := templateData(checked.Schema)
	data["version"] = len(migrations)
	data["trusted"] = cfg.PostgreSQL == 0 || cfg.PostgreSQL >= firstWithTrusted
	parts, err := loadExtensionParts(safelyQuoted(files, checked.Schema), data)
	if err != nil {
		return nil, err
	}
	m := &Migrator{schema: checked.Schema}
	install := parts["schema.sql"] + "\n" + m.installation(migrations) + "\n" + parts["dump.sql"]
	written := []ExtensionFile{
		{ExtensionName + ".control", parts[ExtensionName+".control"]},
		{fmt.Sprintf("%s--%d.sql", ExtensionName, len(migrations)), script("create extension "+ExtensionName, install)},
	}
	// The functions that roles call are not the extension's, so its scripts may not touch them.
	replaceEnd := strings.NewReplacer(m.quoted()+"._gw_finish_migration()", m.quoted()+"._gw_record_installed()")
	for _, migration := range migrations[firstExtensionVersion:] {
		step := replaceEnd.Replace(migration.SQL)
		text := fmt.Sprintf("%s\nupdate %s set version = %d;\n\n%s",
			step, m.qualified(versionTable), migration.Version, parts["dump.sql"])
		written = append(written, ExtensionFile{
			fmt.Sprintf("%s--%d--%d.sql", ExtensionName, migration.Version-1, migration.Version),
			script(fmt.Sprintf("alter extension %s update to '%d'", ExtensionName, migration.Version), text),
		})
	}
	for _, file := range written {
		if strings.Contains(file.Text, "@ext") {
			return nil, fmt.Errorf("write %s: it has a text that PostgreSQL replaces: @ext", file.Name)
		}
	}
	return written, nil
}

// script adds a first line that makes psql refuse to run the script; PostgreSQL ignores it when it loads the extension.
func script(statement, text string) string {
	return fmt.Sprintf("\\echo Load this by \"%s\". \\quit\n\n%s", statement, text)
}

// loadExtensionParts renders the directory extension of files.
func loadExtensionParts(files fs.FS, data map[string]any) (map[string]string, error) {
	files, err := fs.Sub(files, "extension")
	if err != nil {
		return nil, fmt.Errorf("open extension: %w", err)
	}
	templates, err := template.New("").Funcs(template.FuncMap{
		"replace": func(from, to, text string) string { return strings.ReplaceAll(text, from, to) },
	}).ParseFS(files, "*")
	if err != nil {
		return nil, fmt.Errorf("read extension: %w", err)
	}
	parts := make(map[string]string)
	for _, part := range templates.Templates() {
		var b strings.Builder
		if err := part.Execute(&b, data); err != nil {
			return nil, fmt.Errorf("write extension: %w", err)
		}
		parts[part.Name()] = b.String()
	}
	return parts, nil
}
