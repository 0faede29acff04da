package migrate

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Reason is a kind of [Refusal].
type Reason string

const (
	ReasonNewer     Reason = "newer"     // the schema is newer than this program
	ReasonGraphile  Reason = "graphile"  // the schema is Graphile Worker's own
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

func (m *Migrator) refuseNewer(installed, available int32) *Refusal {
	return &Refusal{
		Reason: ReasonNewer,
		Problem: fmt.Sprintf("schema %s is at version %d, but this program knows versions up to %d only",
			m.quoted(), installed, available),
		WayOut: "use the release that made it, or a later one",
	}
}

func (m *Migrator) refuseGraphile(revision int32) *Refusal {
	return &Refusal{
		Reason: ReasonGraphile,
		Problem: fmt.Sprintf("schema %s was made by Graphile Worker (revision %d), and taking it over is not supported",
			m.quoted(), revision),
		WayOut: "choose another schema, or another database",
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

func (m *Migrator) refuseOwner(e evidence) *Refusal {
	return &Refusal{
		Reason:  ReasonOwner,
		Problem: fmt.Sprintf("schema %s belongs to role %s, not to %s", m.quoted(), quote(e.owner), quote(e.user)),
		WayOut: fmt.Sprintf("connect as that role, or become it by setting PGOPTIONS='-c role=%s'",
			strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(e.owner)),
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

// enumerate lists the first few of what may be many.
func enumerate(things []string) string {
	const most = 5
	if len(things) <= most {
		return strings.Join(things, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(things[:most], ", "), len(things)-most)
}
