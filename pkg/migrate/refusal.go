package migrate

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/graphile"
)

// A Reason is a kind of [Refusal].
type Reason string

const (
	ReasonAbsent    Reason = "absent"    // the schema has no queue to repair
	ReasonNewer     Reason = "newer"     // the schema is newer than this program, and either incompatible or to be changed
	ReasonGraphile  Reason = "graphile"  // the schema is Graphile Worker's, and adoption was not requested or is not possible
	ReasonExtension Reason = "extension" // the schema belongs to a PostgreSQL extension, which upgrades it
	ReasonHalfMade  Reason = "half-made" // parts of the schema are missing
	ReasonForeign   Reason = "foreign"   // the schema contains other objects
	ReasonOwner     Reason = "owner"     // the schema belongs to another role
	ReasonPrivilege Reason = "privilege" // the role may not create the schema
	ReasonPaths     Reason = "paths"     // functions of the user would run with the search_path of gw's functions, and may fail
	ReasonReadOnly  Reason = "read-only" // the server or the session is read-only
	ReasonPooler    Reason = "pooler"    // a connection pooler does not separate sessions
)

// A Refusal is the error of a migration that did not begin: the database is unchanged.
type Refusal struct {
	Reason  Reason
	Problem string // the problem found
	WayOut  string // the remedy
}

// Error returns the problem and the remedy.
func (r *Refusal) Error() string { return r.Problem + "; " + r.WayOut }

// useLaterRelease is the remedy if a schema is newer than this program.
const useLaterRelease = "use the release that installed it, or a later one"

// refuse returns the refusal whose problem has this format.
func refuse(reason Reason, wayOut, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Problem: fmt.Sprintf(format, args...), WayOut: wayOut}
}

func (m *Migrator) refuseNewer(installed, breaking, available int32) *Refusal {
	return refuse(ReasonNewer, useLaterRelease, "schema %s is at version %d, this program is for %d, and version %d "+
		"is marked as breaking for programs that do not support it", m.quoted(), installed, available, breaking)
}

// refuseToChangeNewer refuses a change of a schema that is newer than this program.
func (m *Migrator) refuseToChangeNewer(installed, available int32) *Refusal {
	return refuse(ReasonNewer, useLaterRelease, "schema %s is at version %d, and this program, which is for %d, "+
		"cannot change it", m.quoted(), installed, available)
}

func (m *Migrator) refuseAbsent() *Refusal {
	return refuse(ReasonAbsent, "install it by gw-migrate, or name another schema",
		"there is no queue of this program in schema %s", m.quoted())
}

const (
	// bringToNewest is the command with which Graphile Worker migrates to graphile.Revision and exits.
	bringToNewest = "npx graphile-worker@0.18 --schema-only"
	// useSupporting is the remedy if a schema is newer than this program knows Graphile Worker.
	useSupporting = "use a release of gw that supports it, or choose another schema"
)

func (m *Migrator) refuseGraphile(revision int32) *Refusal {
	return refuse(ReasonGraphile, "let gw-migrate adopt it, or choose another schema",
		"schema %s was created by Graphile Worker (revision %d)", m.quoted(), revision)
}

func (m *Migrator) refuseOldRevision(revision int32) *Refusal {
	return refuse(ReasonGraphile, "bring it to a later one by Graphile Worker first: "+bringToNewest,
		"schema %s is at revision %d of Graphile Worker, and only %d and later can be adopted",
		m.quoted(), revision, oldestRevision)
}

func (m *Migrator) refuse18() *Refusal {
	return refuse(ReasonGraphile, "if none of them is left, or none is needed: gw-migrate --from-18",
		"schema %s is at revision %d of Graphile Worker; adopting it upgrades it to %d, with which Node workers older "+
			"than 0.17 stop and refuse to start", m.quoted(), oldestRevision, graphile.Revision)
}

func (m *Migrator) refuseRevision(revision int32) *Refusal {
	return refuse(ReasonGraphile, useSupporting, "schema %s was brought to revision %d by a Graphile Worker later "+
		"than this program, and that revision is marked as breaking", m.quoted(), revision)
}

func (m *Migrator) refuseRust(revision int32) *Refusal {
	return refuse(ReasonGraphile, useSupporting, "schema %s seems to be created by Graphile Worker's port to Rust, at "+
		"revision %d, and only those up to %d can be adopted", m.quoted(), revision, newestRustRevision)
}

func (m *Migrator) refuseHalfMadeGraphile(revision int32, missing []string) *Refusal {
	wayOut := "restore the missing or changed objects (in an empty database, " + bringToNewest +
		" shows the expected state), or choose another schema"
	return refuse(ReasonHalfMade, wayOut, "schema %s is half-made: by its table migrations it is at revision %d of "+
		"Graphile Worker, which has %s", m.quoted(), revision, enumerate(missing))
}

func (m *Migrator) refuseInTheWay(objects []string) *Refusal {
	return refuse(ReasonForeign, "rename them, or move them to another schema",
		"schema %s contains objects that the migration would replace: %s", m.quoted(), enumerate(objects))
}

func (m *Migrator) refuseHalfMade(format string, args ...any) *Refusal {
	wayOut := "restore it from a backup or choose another schema; if nothing in it is needed: drop schema " +
		m.quoted() + " cascade"
	return refuse(ReasonHalfMade, wayOut, "schema %s is half-made: %s", m.quoted(), fmt.Sprintf(format, args...))
}

func (m *Migrator) refuseForeign(objects ...string) *Refusal {
	return refuse(ReasonForeign, "choose another schema, or move these objects",
		"schema %s contains other objects: %s", m.quoted(), enumerate(objects))
}

func (m *Migrator) refuseExtension(status Status) *Refusal {
	name, _, _ := strings.Cut(status.Extension, " ")
	wayOut := "copy the extension's files of this release to the server (gw-migrate extension writes them), " +
		"then run: alter extension " + quote(name) + " update"
	return refuse(ReasonExtension, wayOut,
		"schema %s is at version %d of %d and belongs to the extension %s, which upgrades it",
		m.quoted(), status.Installed, status.Available, name)
}

// refuseRights returns which privilege the role lacks to change the objects of the schema; nil if it lacks none.
func (m *Migrator) refuseRights(e evidence) *Refusal {
	switch {
	case len(e.owners) > 1:
		return refuse(ReasonOwner,
			"make one of them the owner of all tables, types, views and functions (alter ... owner to ...)",
			"the objects in schema %s belong to several roles: %s", m.quoted(), strings.Join(e.owners, ", "))
	case !e.isOwner():
		role := strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(e.owners[0])
		return refuse(ReasonOwner, "connect as that role, or become it by setting PGOPTIONS='-c role="+role+"'",
			"schema %s belongs to role %s, not to %s", m.quoted(), quote(e.owners[0]), quote(e.user))
	case !e.mayCreate:
		return refuse(ReasonPrivilege,
			"let the schema's owner run: grant create on schema "+m.quoted()+" to "+quote(e.user),
			"role %s may not create anything in schema %s", quote(e.user), m.quoted())
	}
	return nil
}

// refuseStrangers names the roles whose objects in the schema may be an attack. Nothing in the schema was read.
func (m *Migrator) refuseStrangers(e evidence) *Refusal {
	return refuse(ReasonOwner,
		"if you trust that role, connect as it; otherwise drop its objects there, or choose another schema",
		"objects in schema %s, or schema %s, belong to %s, and role %s is not a member of it",
		m.quoted(), quote(m.schema+"_api"), strings.Join(quoteAll(e.strangers), ", "), quote(e.user))
}

func refusePooler(found string) *Refusal {
	return refuse(ReasonPooler, "connect to PostgreSQL itself, or to a pool in session mode",
		"a connection pooler is in the way: %s", found)
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func quoteAll(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return quoted
}

// enumerate lists the first few of a possibly long list.
func enumerate(things []string) string {
	const most = 5
	if len(things) <= most {
		return strings.Join(things, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(things[:most], ", "), len(things)-most)
}
