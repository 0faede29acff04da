package migrate

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Reason is a kind of [Refusal].
type Reason string

const (
	ReasonAbsent    Reason = "absent"    // there is nothing of ours to repair
	ReasonNewer     Reason = "newer"     // the schema is newer than this program, and breaks it or is to be changed by it
	ReasonGraphile  Reason = "graphile"  // the schema is Graphile Worker's own, and was not to be taken over, or cannot be
	ReasonExtension Reason = "extension" // the schema belongs to a PostgreSQL extension, which upgrades it
	ReasonHalfMade  Reason = "half-made" // parts of the schema are missing
	ReasonForeign   Reason = "foreign"   // the schema holds something else
	ReasonOwner     Reason = "owner"     // the schema belongs to another role
	ReasonPrivilege Reason = "privilege" // the role may not create the schema
	ReasonReadOnly  Reason = "read-only" // the server or the session does not take writes
	ReasonPooler    Reason = "pooler"    // a connection pooler does not keep sessions apart
)

// A Refusal is the error of a migration that was not begun: the database is as it was.
type Refusal struct {
	Reason  Reason
	Problem string // what was found
	WayOut  string // what to do about it
}

// Error returns the problem and the way out.
func (r *Refusal) Error() string { return r.Problem + "; " + r.WayOut }

// useLaterRelease is the way out where a schema is newer than this program.
const useLaterRelease = "use the release that made it, or a later one"

func (m *Migrator) refuseNewer(installed, breaking, available int32) *Refusal {
	return &Refusal{
		Reason: ReasonNewer,
		Problem: fmt.Sprintf("schema %s is at version %d, this program is for %d, and version %d is marked as breaking for "+
			"programs that do not know it", m.quoted(), installed, available, breaking),
		WayOut: useLaterRelease,
	}
}

// refuseToChangeNewer refuses what needs to know all of a schema.
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
		Problem: fmt.Sprintf("there is no queue of ours in schema %s", m.quoted()),
		WayOut:  "install it by gw-migrate, or name another schema",
	}
}

// bringToNewest makes Graphile Worker migrate to contractRevision and end.
const bringToNewest = "npx graphile-worker@0.18 --schema-only"

func (m *Migrator) refuseGraphile(revision int32) *Refusal {
	return &Refusal{
		Reason:  ReasonGraphile,
		Problem: fmt.Sprintf("schema %s was made by Graphile Worker (revision %d)", m.quoted(), revision),
		WayOut:  "let gw-migrate take it over, or choose another schema",
	}
}

func (m *Migrator) refuseOldRevision(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s is at revision %d of Graphile Worker, and only %d and later can be taken over",
			m.quoted(), revision, oldestRevision),
		WayOut: "bring it to a later one by Graphile Worker first: " + bringToNewest,
	}
}

func (m *Migrator) refuse18() *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s is at revision %d of Graphile Worker; to take it over brings it to %d, with which "+
			"Node workers older than 0.17 stop and refuse to start", m.quoted(), oldestRevision, contractRevision),
		WayOut: "if none of them is left, or none is needed: gw-migrate --from-18",
	}
}

func (m *Migrator) refuseRevision(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s was brought to revision %d by a Graphile Worker later than this program, and that "+
			"revision is marked as breaking", m.quoted(), revision),
		WayOut: "use a release of gw that knows it, or choose another schema",
	}
}

func (m *Migrator) refuseRust(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s seems to be made by Graphile Worker's port to Rust, at revision %d, and only those up "+
			"to %d can be taken over", m.quoted(), revision, newestRustRevision),
		WayOut: "use a release of gw that knows it, or choose another schema",
	}
}

func (m *Migrator) refuseHalfMadeGraphile(revision int32, missing []string) *Refusal {
	return &Refusal{
		Reason: ReasonHalfMade,
		Problem: fmt.Sprintf("schema %s is half-made: by its table migrations it is at revision %d of Graphile Worker, which "+
			"has %s", m.quoted(), revision, enumerate(missing)),
		WayOut: "bring back what is missing or different (in an empty database, " + bringToNewest + " shows how it has to be), " +
			"or choose another schema",
	}
}

func (m *Migrator) refuseInTheWay(objects []string) *Refusal {
	return &Refusal{
		Reason:  ReasonForeign,
		Problem: fmt.Sprintf("schema %s has what we would replace: %s", m.quoted(), enumerate(objects)),
		WayOut:  "rename it, or move it to another schema",
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
		Problem: fmt.Sprintf("schema %s holds something else: %s", m.quoted(), enumerate(objects)),
		WayOut:  "choose another schema, or move what is in it",
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

// refuseRights says which right the role lacks to change what is in the schema; nil if it lacks none.
func (m *Migrator) refuseRights(e evidence) *Refusal {
	switch {
	case len(e.owners) > 1:
		return &Refusal{
			Reason:  ReasonOwner,
			Problem: fmt.Sprintf("what is in schema %s belongs to several roles: %s", m.quoted(), strings.Join(e.owners, ", ")),
			WayOut:  "make one of them the owner of all tables, types, views and functions (alter ... owner to ...)",
		}
	case !e.isOwner():
		return m.refuseOwner(e)
	case !e.mayCreate:
		return &Refusal{
			Reason:  ReasonPrivilege,
			Problem: fmt.Sprintf("role %s may not create anything in schema %s", quote(e.user), m.quoted()),
			WayOut:  fmt.Sprintf("let the schema's owner run: grant create on schema %s to %s", m.quoted(), quote(e.user)),
		}
	}
	return nil
}

// refuseStrangers says who could have laid out what is there for us to trip over. Nothing in it was looked at.
func (m *Migrator) refuseStrangers(e evidence) *Refusal {
	return &Refusal{
		Reason: ReasonOwner,
		Problem: fmt.Sprintf("in schema %s, or as schema %s, there is what belongs to %s, and role %s is no member of it",
			m.quoted(), quote(m.schema+"_api"), strings.Join(quoteAll(e.strangers), ", "), quote(e.user)),
		WayOut: "if that role is to be trusted, connect as it; else drop what it has made there, or choose another schema",
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

// enumerate lists the first few of what may be many.
func enumerate(things []string) string {
	const most = 5
	if len(things) <= most {
		return strings.Join(things, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(things[:most], ", "), len(things)-most)
}
