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

	// extensionComment is quoted for a literal.
	extensionComment = "Graphile Worker''s job queue, with its rules in the database"

	// firstExtensionVersion is the oldest version that the extension can be upgraded from.
	firstExtensionVersion = 4
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

	// PgTLE makes one file of SQL that registers the extension with pg_tle, for servers without access to their files.
	PgTLE bool
}

// An extensionStep is the text of one script: of the installation, from version 0, or of an upgrade by one version.
type extensionStep struct {
	from, to int32
	text     string
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
	data["version"], data["comment"] = len(migrations), extensionComment
	parts, err := loadExtensionParts(safelyQuoted(files, checked.Schema), data)
	if err != nil {
		return nil, err
	}
	m := &Migrator{schema: checked.Schema}
	steps := []extensionStep{{0, int32(len(migrations)), parts["schema.sql"] + "\n" + m.installation(migrations) +
		"\n" + parts["dump.sql"]}}
	// The functions that roles call are not the extension's, so its scripts may not touch them.
	replaceEnd := strings.NewReplacer(m.quoted()+"._gw_finish_migration()", m.quoted()+"._gw_record_installed()")
	for _, migration := range migrations[firstExtensionVersion:] {
		text := fmt.Sprintf("%s\nupdate %s set version = %d;\n\n%s",
			replaceEnd.Replace(migration.SQL), m.qualified(versionTable), migration.Version, parts["dump.sql"])
		steps = append(steps, extensionStep{migration.Version - 1, migration.Version, text})
	}
	for _, step := range steps {
		if strings.Contains(step.text, "@ext") {
			return nil, fmt.Errorf("write extension version %d: it has a text that PostgreSQL replaces: @ext", step.to)
		}
	}
	if cfg.PgTLE {
		return []ExtensionFile{registration(steps)}, nil
	}
	written := []ExtensionFile{{ExtensionName + ".control", parts[ExtensionName+".control"]}}
	for _, step := range steps {
		written = append(written, step.file())
	}
	return written, nil
}

// file returns the script of a step for a server's files. Its first line makes psql refuse to run it; PostgreSQL
// ignores the line when it loads the extension.
func (s extensionStep) file() ExtensionFile {
	name, statement := fmt.Sprintf("%s--%d.sql", ExtensionName, s.to), "create extension "+ExtensionName
	if s.from > 0 {
		name = fmt.Sprintf("%s--%d--%d.sql", ExtensionName, s.from, s.to)
		statement = fmt.Sprintf("alter extension %s update to '%d'", ExtensionName, s.to)
	}
	return ExtensionFile{name, fmt.Sprintf("\\echo Load this by \"%s\". \\quit\n\n%s", statement, s.text)}
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

const (
	registrationHead = `-- Registers the extension %[1]s, version %[2]d, with pg_tle in this database. Run it in one transaction as a superuser
-- or a member of pgtle_admin; what is registered already stays. Then: create extension %[1]s,
-- or: alter extension %[1]s update
`

	// pg_tle's install_extension is for the first version that is registered, the other function for further ones.
	registerVersion = `
select case
         when exists (select from pgtle.available_extensions() as a where a.name = '%[1]s')
           then pgtle.install_extension_version_sql('%[1]s', '%[2]d', s.script)
         else pgtle.install_extension('%[1]s', '%[2]d', '%[3]s', s.script)
       end
  from (values (%[4]s)) as s (script)
 where not exists (select from pgtle.available_extension_versions() as v where v.name = '%[1]s' and v.version = '%[2]d');
`

	registerUpdate = `
select pgtle.install_update_path('%[1]s', '%[2]d', '%[3]d', %[4]s)
 where not exists (select from pgtle.extension_update_paths('%[1]s') as u where u.path = '%[2]d--%[3]d');
`

	registerDefault = `
select pgtle.set_default_version('%[1]s', '%[2]d');
`
)

// registration returns the statements that give pg_tle the scripts of an extension. It cannot be told the schema before
// version 1.5.0 of pg_tle, so the scripts set the search_path themselves that they have by the control file otherwise.
func registration(steps []extensionStep) ExtensionFile {
	var b strings.Builder
	install := steps[0]
	fmt.Fprintf(&b, registrationHead, ExtensionName, install.to)
	for _, step := range steps {
		text := "\nset local search_path = pg_catalog, pg_temp;\n\n" + step.text + "\n"
		quote := dollarQuote(text)
		text = quote + text + quote
		if step.from == 0 {
			fmt.Fprintf(&b, registerVersion, ExtensionName, step.to, extensionComment, text)
		} else {
			fmt.Fprintf(&b, registerUpdate, ExtensionName, step.from, step.to, text)
		}
	}
	fmt.Fprintf(&b, registerDefault, ExtensionName, install.to)
	return ExtensionFile{ExtensionName + ".pg_tle.sql", b.String()}
}
