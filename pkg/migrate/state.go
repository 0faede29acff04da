package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A State is what a schema looks like to this program.
type State string

const (
	Absent   State = "absent"    // there is no such schema
	Empty    State = "empty"     // there is one with nothing in it
	Behind   State = "behind"    // ours, at a lower version than this program's
	Current  State = "current"   // ours, at this program's version
	Newer    State = "newer"     // ours, at a higher version than this program's
	Graphile State = "graphile"  // Graphile Worker's own
	HalfMade State = "half-made" // ours or Graphile Worker's, with parts missing
	Foreign  State = "foreign"   // somebody else's
)

// Status is what a database holds and what would happen to it.
type Status struct {
	Schema    string
	State     State
	Installed int32       // the schema's version; 0 if nothing of ours is there
	Available int32       // the version that this program brings it to
	Pending   []Migration // what Up would apply, in order
	Refusal   *Refusal    // why Up would not do it; nil if it would
}

// contractTables are there from version 1 on.
func contractTables() []string {
	return []string{"_private_jobs", "_private_job_queues", "_private_tasks", "_private_known_crontabs", "migrations"}
}

// evidence is what the catalogue says about a schema.
type evidence struct {
	exists  bool
	owner   string
	user    string
	tables  []string
	objects []string // described in words; all that is in the schema but the version table
}

func (e evidence) has(table string) bool { return slices.Contains(e.tables, table) }

const evidenceQuery = `
select n.oid is not null,
       coalesce(pg_catalog.pg_get_userbyid(n.nspowner)::text, ''),
       current_user::text,
       array(select c.relname::text
               from pg_catalog.pg_class as c
              where c.relnamespace = n.oid
                and c.relkind in ('r', 'p')),
       array(select coalesce(pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid), 'something just dropped')
               from pg_catalog.pg_depend as d
              where d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
                and d.refobjid = n.oid
                and d.deptype = 'n'
                and not exists (select from pg_catalog.pg_class as v
                                 where v.oid = d.objid
                                   and v.relnamespace = n.oid
                                   and v.relname = $2)
              order by 1)
  from (values (1)) as one
  left join pg_catalog.pg_namespace as n on n.nspname = $1`

// inspect looks at the schema and tells which state it is in. It reads in one snapshot, since another program may be
// installing right now.
func (m *Migrator) inspect(ctx context.Context, conn *pgx.Conn) (Status, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if refusal := poolerRefusal(err); refusal != nil {
		return Status{}, refusal
	}
	if err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()

	var e evidence
	err = tx.QueryRow(ctx, evidenceQuery, m.schema, versionTable).Scan(&e.exists, &e.owner, &e.user, &e.tables, &e.objects)
	if err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}
	status, err := m.classify(ctx, tx, e)
	if isCode(err, "42501") && e.owner != e.user {
		status.Refusal = m.refuseOwner(e)
		return status, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}
	return status, nil
}

func (m *Migrator) classify(ctx context.Context, tx pgx.Tx, e evidence) (Status, error) {
	status := Status{Schema: m.schema, Available: int32(len(m.migrations))}
	var err error
	switch {
	case !e.exists:
		status.State = Absent
	case e.has(versionTable):
		err = m.classifyOurs(ctx, tx, e, &status)
	case slices.ContainsFunc(e.tables, func(t string) bool { return strings.HasPrefix(t, "_gw_") }):
		status.State = HalfMade
		status.Refusal = m.refuseHalfMade("it has tables of ours but no table " + versionTable)
	case e.has("migrations") && (e.has("_private_jobs") || e.has("jobs")):
		err = m.classifyGraphile(ctx, tx, &status)
	case len(e.objects) > 0:
		status.State = Foreign
		status.Refusal = m.refuseForeign(e.objects)
	default:
		status.State = Empty
	}
	if err != nil {
		return status, err
	}
	if status.State == Absent || status.State == Empty || status.State == Behind {
		status.Pending = m.migrations[status.Installed:]
		if e.exists && e.owner != e.user {
			status.Refusal = m.refuseOwner(e)
		}
	}
	return status, nil
}

func (m *Migrator) classifyOurs(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	status.State = HalfMade
	versions, err := readIntegers(ctx, tx, "select version from "+m.qualified(versionTable))
	if isCode(err, "42703") {
		status.Refusal = m.refuseHalfMade("its table " + versionTable + " is not as we make it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	if len(versions) != 1 || versions[0] < 0 {
		status.Refusal = m.refuseHalfMade(fmt.Sprintf("its table %s holds %v instead of one version", versionTable, versions))
		return nil
	}
	status.Installed = versions[0]

	if status.Installed == 0 && len(e.objects) > 0 {
		status.Refusal = m.refuseHalfMade("it is at version 0 but already has " + enumerate(e.objects))
		return nil
	}
	if status.Installed > 0 {
		missing := slices.DeleteFunc(contractTables(), e.has)
		if len(missing) > 0 {
			status.Refusal = m.refuseHalfMade(fmt.Sprintf("it is at version %d but has no table %s",
				status.Installed, enumerate(missing)))
			return nil
		}
	}

	switch {
	case status.Installed < status.Available:
		status.State = Behind
	case status.Installed == status.Available:
		status.State = Current
	default:
		status.State = Newer
		status.Refusal = m.refuseNewer(status.Installed, status.Available)
	}
	return nil
}

// classifyGraphile looks at the ledger of a schema that Graphile Worker has made.
func (m *Migrator) classifyGraphile(ctx context.Context, tx pgx.Tx, status *Status) error {
	revisions, err := readIntegers(ctx, tx, "select id from "+m.qualified("migrations")+" order by id")
	if isCode(err, "42703") {
		status.State = Foreign
		status.Refusal = m.refuseForeign([]string{"a table migrations that is not Graphile Worker's"})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Graphile Worker's revision: %w", err)
	}
	if len(revisions) == 0 {
		status.State = HalfMade
		status.Refusal = m.refuseHalfMade("it has tables of Graphile Worker but nothing in its table migrations")
		return nil
	}
	status.State = Graphile
	status.Refusal = m.refuseGraphile(revisions[len(revisions)-1])
	return nil
}

func readIntegers(ctx context.Context, tx pgx.Tx, query string) ([]int32, error) {
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

func isCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}
