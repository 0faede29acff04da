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

func (m *Migrator) refuseNewer(installed, breaking, available int32) *Refusal {
	return &Refusal{
		Reason: ReasonNewer,
		Problem: fmt.Sprintf("schema %s is at version %d, this program is for %d, and version %d is marked as breaking for "+
			"programs that do not support it", m.quoted(), installed, available, breaking),
		WayOut: useLaterRelease,
	}
}

// refuseToChangeNewer refuses a change of a schema that is newer than this program.
func (m *Migrator) refuseToChangeNewer(installed, available int32) *Refusal {
	return &Refusal{
		Reason: ReasonNewer,
		Problem: fmt.Sprintf("schema %s is at version %d, and this program, which is for %d, cannot change it",
			m.quoted(), installed, available),
		WayOut: useLaterRelease,
	}
}

func (m *Migrator) refuseAbsent() *Refusal {
	return &Refusal{
		Reason:  ReasonAbsent,
		Problem: fmt.Sprintf("there is no queue of this program in schema %s", m.quoted()),
		WayOut:  "install it by gw-migrate, or name another schema",
	}
}

// bringToNewest is the command with which Graphile Worker migrates to graphile.Revision and exits.
const bringToNewest = "npx graphile-worker@0.18 --schema-only"

func (m *Migrator) refuseGraphile(revision int32) *Refusal {
	return &Refusal{
		Reason:  ReasonGraphile,
		Problem: fmt.Sprintf("schema %s was created by Graphile Worker (revision %d)", m.quoted(), revision),
		WayOut:  "let gw-migrate adopt it, or choose another schema",
	}
}

func (m *Migrator) refuseOldRevision(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s is at revision %d of Graphile Worker, and only %d and later can be adopted",
			m.quoted(), revision, oldestRevision),
		WayOut: "bring it to a later one by Graphile Worker first: " + bringToNewest,
	}
}

func (m *Migrator) refuse18() *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s is at revision %d of Graphile Worker; adopting it upgrades it to %d, with which "+
			"Node workers older than 0.17 stop and refuse to start", m.quoted(), oldestRevision, graphile.Revision),
		WayOut: "if none of them is left, or none is needed: gw-migrate --from-18",
	}
}

func (m *Migrator) refuseRevision(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s was brought to revision %d by a Graphile Worker later than this program, and that "+
			"revision is marked as breaking", m.quoted(), revision),
		WayOut: "use a release of gw that supports it, or choose another schema",
	}
}

func (m *Migrator) refuseRust(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s seems to be created by Graphile Worker's port to Rust, at revision %d, and only those up "+
			"to %d can be adopted", m.quoted(), revision, newestRustRevision),
		WayOut: "use a release of gw that supports it, or choose another schema",
	}
}

func (m *Migrator) refuseHalfMadeGraphile(revision int32, missing []string) *Refusal {
	return &Refusal{
		Reason: ReasonHalfMade,
		Problem: fmt.Sprintf("schema %s is half-made: by its table migrations it is at revision %d of Graphile Worker, which "+
			"has %s", m.quoted(), revision, enumerate(missing)),
		WayOut: "restore the missing or changed objects (in an empty database, " + bringToNewest +
			" shows the expected state), " +
			"or choose another schema",
	}
}

func (m *Migrator) refuseInTheWay(objects []string) *Refusal {
	return &Refusal{
		Reason: ReasonForeign,
		Problem: fmt.Sprintf("schema %s contains objects that the migration would replace: %s", m.quoted(),
			enumerate(objects)),
		WayOut: "rename them, or move them to another schema",
	}
}

func (m *Migrator) refuseHalfMade(what string) *Refusal {
	return &Refusal{
		Reason:  ReasonHalfMade,
		Problem: fmt.Sprintf("schema %s is half-made: %s", m.quoted(), what),
		WayOut: fmt.Sprintf("restore it from a backup or choose another schema; "+
			"if nothing in it is needed: drop schema %s cascade", m.quoted()),
	}
}

func (m *Migrator) refuseForeign(objects []string) *Refusal {
	return &Refusal{
		Reason:  ReasonForeign,
		Problem: fmt.Sprintf("schema %s contains other objects: %s", m.quoted(), enumerate(objects)),
		WayOut:  "choose another schema, or move these objects",
	}
}

func (m *Migrator) refuseExtension(status Status) *Refusal {
	name, _, _ := strings.Cut(status.Extension, " ")
	return &Refusal{
		Reason: ReasonExtension,
		Problem: fmt.Sprintf("schema %s is at version %d of %d and belongs to the extension %s, which upgrades it",
			m.quoted(), status.Installed, status.Available, name),
		WayOut: fmt.Sprintf("copy the extension's files of this release to the server (gw-migrate extension writes them), "+
			"then run: alter extension %s update", quote(name)),
	}
}

// refuseRights returns which privilege the role lacks to change the objects of the schema; nil if it lacks none.
func (m *Migrator) refuseRights(e evidence) *Refusal {
	switch {
	case len(e.owners) > 1:
		return &Refusal{
			Reason: ReasonOwner,
			Problem: fmt.Sprintf("the objects in schema %s belong to several roles: %s", m.quoted(),
				strings.Join(e.owners, ", ")),
			WayOut: "make one of them the owner of all tables, types, views and functions (alter ... owner to ...)",
		}
	case !e.isOwner():
		return m.refuseOwner(e)
	case !e.mayCreate:
		return &Refusal{
			Reason:  ReasonPrivilege,
			Problem: fmt.Sprintf("role %s may not create anything in schema %s", quote(e.user), m.quoted()),
			WayOut: fmt.Sprintf("let the schema's owner run: grant create on schema %s to %s", m.quoted(),
				quote(e.user)),
		}
	}
	return nil
}

// refuseStrangers names the roles whose objects in the schema may be an attack. Nothing in the schema was read.
func (m *Migrator) refuseStrangers(e evidence) *Refusal {
	return &Refusal{
		Reason: ReasonOwner,
		Problem: fmt.Sprintf("objects in schema %s, or schema %s, belong to %s, and role %s is not a member of it",
			m.quoted(), quote(m.schema+"_api"), strings.Join(quoteAll(e.strangers), ", "), quote(e.user)),
		WayOut: "if you trust that role, connect as it; otherwise drop its objects there, or choose another schema",
	}
}

func (m *Migrator) refuseOwner(e evidence) *Refusal {
	return &Refusal{
		Reason:  ReasonOwner,
		Problem: fmt.Sprintf("schema %s belongs to role %s, not to %s", m.quoted(), quote(e.owners[0]), quote(e.user)),
		WayOut: fmt.Sprintf("connect as that role, or become it by setting PGOPTIONS='-c role=%s'",
			strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(e.owners[0])),
	}
}

func (m *Migrator) refusePrivilege(user, database string) *Refusal {
	return &Refusal{
		Reason: ReasonPrivilege,
		Problem: fmt.Sprintf("role %s may not create schema %s in database %s",
			quote(user), m.quoted(), quote(database)),
		WayOut: fmt.Sprintf("let the database's owner run: create schema %s authorization %s",
			m.quoted(), quote(user)),
	}
}

func refuseStandby() *Refusal {
	return &Refusal{
		Reason:  ReasonReadOnly,
		Problem: "the server is a hot standby",
		WayOut:  "connect to its primary; target_session_attrs=read-write finds it among several hosts",
	}
}

func refuseReadOnly() *Refusal {
	return &Refusal{
		Reason:  ReasonReadOnly,
		Problem: "the session is read-only (default_transaction_read_only is on)",
		WayOut:  "connect as a role that may write, or set PGOPTIONS='-c default_transaction_read_only=off'",
	}
}

func refusePooler(found string) *Refusal {
	return &Refusal{
		Reason:  ReasonPooler,
		Problem: "a connection pooler is in the way: " + found,
		WayOut:  "connect to PostgreSQL itself, or to a pool in session mode",
	}
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
