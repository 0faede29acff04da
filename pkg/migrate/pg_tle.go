package migrate

import (
	"fmt"
	"strings"
)

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
