package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/connection"
)

// A State is the state of a schema as seen by this program.
type State string

const (
	Absent   State = "absent"    // there is no such schema
	Empty    State = "empty"     // the schema is empty
	Behind   State = "behind"    // ours, at a lower version than this program's
	Current  State = "current"   // ours, at this program's version
	Newer    State = "newer"     // ours, at a higher version than this program's; it is supported unless Refusal is set
	Graphile State = "graphile"  // created by Graphile Worker
	HalfMade State = "half-made" // ours or Graphile Worker's, with parts missing
	Foreign  State = "foreign"   // it contains other objects
)

// Status is the state of a schema and what Up would do.
type Status struct {
	Schema    string
	State     State
	Extension string      // the PostgreSQL extension that the schema belongs to, with its version; empty without
	Revision  int32       // Graphile Worker's revision, by its table migrations; 0 without
	Installed int32       // the schema's version; 0 without a queue
	Available int32       // the version that this program installs
	Pending   []Migration // the migrations that Up would apply, in order
	Warnings  []string    // the warnings of Up
	Objects   []Object    // the objects of the migrations; in Graphile Worker's schema, the functions that both have
	Roles     []Role      // other than the owner, with privileges on the tables that gw has not granted
	Unpinned  []Unpinned  // functions of the user without a search_path, which run with that of the queue's functions
	Refusal   *Refusal    // why Up would refuse; nil if it would not

	recorded map[Object]string // the digests of Objects by _gw_installed
	breaking int32             // Graphile Worker's newest revision that breaks our contract; 0 if there is none
	rights   *Refusal          // which privilege the role lacks; nil if it lacks none
}

// installedTable records which functions and triggers are ours, from version 2 on.
const installedTable = "_gw_installed"

// contractTables exist from version 1 on.
func contractTables() []string {
	return []string{"_private_jobs", "_private_job_queues", "_private_tasks", "_private_known_crontabs", "migrations"}
}

// evidence is what the catalogs contain about a schema.
type evidence struct {
	exists    bool
	qualifier string   // the schema's name and a dot, as PostgreSQL prints it
	extension string   // that the schema belongs to, with its version
	owners    []string // of the contract's tables and functions, or of the schema if there are none
	user      string
	strangers []string // untrusted owners of the schema, of objects in it, or of the schema for roles
	mayCreate bool     // in the schema
	mayRead   bool     // the table of installed objects, if it exists
	tables    []string
	objects   []string // descriptions of all objects in the schema except the version table
}

func (e evidence) has(table string) bool { return slices.Contains(e.tables, table) }

// isGraphile reports whether the tables are those of any revision of Graphile Worker.
func (e evidence) isGraphile() bool {
	return e.has("migrations") && (e.has("_private_jobs") || e.has("jobs"))
}

// isOwner reports whether all objects of the queue belong to the connected role.
func (e evidence) isOwner() bool { return len(e.owners) == 1 && e.owners[0] == e.user }

const evidenceQuery = `
select n.oid is not null,
       coalesce(pg_catalog.quote_ident(n.nspname) || '.', ''),
       coalesce((select x.extname || ' ' || x.extversion
                   from pg_catalog.pg_depend as d
                   join pg_catalog.pg_extension as x on x.oid = d.refobjid
                  where d.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
                    and d.objid = n.oid
                    and d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
                    and d.deptype = 'e'), ''),
       array(select pg_catalog.pg_get_userbyid(o.oid)::text
               from (select c.relowner
                       from pg_catalog.pg_class as c
                      where c.relnamespace = n.oid and c.relname = any ($3::text[])
                     union
                     select p.proowner
                       from pg_catalog.pg_proc as p
                      where p.pronamespace = n.oid and p.proname = any ($3::text[])
                     union
                     select n.nspowner
                      where n.oid is not null
                        and not exists (select from pg_catalog.pg_class as c
                                         where c.relnamespace = n.oid and c.relname = any ($3::text[]))) as o (oid)
              order by 1),
       current_user::text,
       array(select r.rolname::text
               from (select s.nspowner, s.oid is distinct from n.oid
                       from pg_catalog.pg_namespace as s
                      where s.nspname in ($1, $1 || '_api')
                     union
                     select c.relowner, false
                       from pg_catalog.pg_class as c
                      where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
                     union
                     select p.proowner, false
                       from pg_catalog.pg_proc as p
                      where p.pronamespace = n.oid) as o (oid, is_api)
               join pg_catalog.pg_roles as r on r.oid = o.oid
               join pg_catalog.pg_database as d on d.datname = pg_catalog.current_database()
              where not r.rolsuper
                and r.oid <> d.datdba
                and r.rolname <> current_user
                and case when o.is_api
                         then r.oid is distinct from n.nspowner
                              and not exists (select from pg_catalog.pg_class as c
                                               where c.relnamespace = n.oid and c.relname = '_private_jobs' and c.relowner = r.oid)
                         else not pg_catalog.pg_has_role(r.oid, 'member') end
              order by 1),
       coalesce(pg_catalog.has_schema_privilege(n.oid, 'create'), false),
       (select coalesce(bool_and(pg_catalog.has_table_privilege(c.oid, 'select') and not pg_catalog.row_security_active(c.oid)), true)
          from pg_catalog.pg_class as c
         where c.relnamespace = n.oid
           and c.relname = $4),
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

// inspect determines the state of the schema. It reads in one snapshot, because another program may be
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

	// With these settings, the catalog functions qualify all names that are not PostgreSQL's own. A row security
	// policy may be foreign code: a query that it would filter fails instead.
	if _, err := tx.Exec(ctx, "set local row_security = off"+connection.Settings("local"),
		pgx.QueryExecModeSimpleProtocol); err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}

	var e evidence
	err = tx.QueryRow(ctx, evidenceQuery, m.schema, versionTable, slices.Concat(contractTables(), contractFunctions()),
		installedTable).
		Scan(&e.exists, &e.qualifier, &e.extension, &e.owners, &e.user, &e.strangers, &e.mayCreate, &e.mayRead,
			&e.tables, &e.objects)
	if err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}
	if len(e.strangers) > 0 {
		return m.unread(e), nil
	}
	status, err := m.classify(ctx, tx, e)
	if isCode(err, "42501") && !e.isOwner() {
		status.Refusal = m.refuseRights(e)
		return status, nil
	}
	if err != nil {
		return Status{}, fmt.Errorf("inspect schema: %w", err)
	}
	return status, nil
}

// unread returns the status of a schema with objects of untrusted owners. No table is read, because that can run the
// code of its owner: a policy or a cast.
func (m *Migrator) unread(e evidence) Status {
	status := Status{Schema: m.schema, State: Foreign, Available: int32(len(m.migrations)), Extension: e.extension}
	if status.Refusal = m.refuseRights(e); status.Refusal == nil || status.Refusal.Reason != ReasonOwner {
		status.Refusal = m.refuseStrangers(e)
	}
	return status
}

func (m *Migrator) classify(ctx context.Context, tx pgx.Tx, e evidence) (Status, error) {
	status := Status{Schema: m.schema, Extension: e.extension, Available: int32(len(m.migrations))}
	var err error
	switch {
	case !e.exists:
		status.State = Absent
	case e.has(versionTable):
		err = m.classifyOurs(ctx, tx, e, &status)
	case slices.ContainsFunc(e.tables, func(t string) bool { return strings.HasPrefix(t, "_gw_") }):
		status.State = HalfMade
		status.Refusal = m.refuseHalfMade("it has tables of ours but no table " + versionTable)
	case e.isGraphile():
		err = m.classifyGraphile(ctx, tx, e, &status)
	case len(e.objects) > 0:
		status.State = Foreign
		status.Refusal = m.refuseForeign(e.objects...)
	default:
		status.State = Empty
	}
	if err != nil {
		return status, err
	}
	if status.State == Absent || status.State == Empty {
		status.Pending = m.migrations
	}
	if e.exists {
		status.rights = m.refuseRights(e)
	}
	if len(status.Pending) > 0 && status.Refusal == nil && status.Extension != "" {
		status.Refusal = m.refuseExtension(status)
	}
	if len(status.Pending) > 0 && status.Refusal == nil {
		status.Refusal = status.rights
	}
	return status, nil
}

func (m *Migrator) classifyOurs(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	status.State = HalfMade
	versions, err := collect(ctx, tx, pgx.RowTo[int32], "select version from "+m.qualified(versionTable))
	if isCode(err, "42703") {
		status.Refusal = m.refuseHalfMade("its table " + versionTable + " is not as we make it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	if len(versions) != 1 || versions[0] < 0 {
		status.Refusal = m.refuseHalfMade("its table %s holds %v instead of one version", versionTable, versions)
		return nil
	}
	status.Installed = versions[0]

	switch {
	case status.Installed > 0:
	case e.isGraphile():
		return m.classifyGraphile(ctx, tx, e, status)
	case len(e.objects) > 0:
		status.Refusal = m.refuseHalfMade("it is at version 0 but already has %s", enumerate(e.objects))
		return nil
	default:
		status.State = Empty
		return nil
	}

	wanted := contractTables()
	if status.Installed > 1 {
		wanted = append(wanted, installedTable)
	}
	if missing := slices.DeleteFunc(wanted, e.has); len(missing) > 0 {
		status.Refusal = m.refuseHalfMade("it is at version %d but has no table %s", status.Installed,
			enumerate(missing))
		return nil
	}
	if status.Refusal, err = m.refuseRenamed(ctx, tx); err != nil || status.Refusal != nil {
		return err
	}
	return m.classifyInstalled(ctx, tx, e, status)
}

// refuseRenamed refuses a schema that has been renamed: its functions name the schema that it was.
func (m *Migrator) refuseRenamed(ctx context.Context, tx pgx.Tx) (*Refusal, error) {
	bodies, err := collect(ctx, tx, pgx.RowTo[string], `
		select p.prosrc from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
		 where n.nspname = $1 and p.proname = '_gw_namespace' and p.pronargs = 0`, m.schema)
	if err != nil {
		return nil, fmt.Errorf("read the name of the schema: %w", err)
	}
	for _, body := range bodies {
		_, rest, isOurs := strings.Cut(body, "to_regprocedure('")
		name, _, ends := strings.Cut(rest, "._gw_namespace()'")
		if name = strings.ReplaceAll(name, "''", "'"); isOurs && ends && name != m.quoted() &&
			name != m.schema { // plain tern may have the name without quotes
			return refuse(ReasonHalfMade,
				fmt.Sprintf("rename it back: alter schema %s rename to %s", m.quoted(), name),
				"schema %s is the renamed schema %s, which its functions name", m.quoted(), name), nil
		}
	}
	return nil, nil
}

// classifyInstalled checks an installed schema for later changes: a later Graphile Worker or a later release of
// gw may have migrated it, its functions may have been changed by hand, or its adoption may have been interrupted.
func (m *Migrator) classifyInstalled(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	ledger, err := m.readLedger(ctx, tx)
	if err != nil {
		return err
	}
	status.Revision, status.breaking = ledger.newest(), ledger.newestBreaking()
	if err := m.readInstalled(ctx, tx, e, status); err != nil {
		return err
	}

	if err := m.readUsers(ctx, tx, status); err != nil {
		return err
	}
	if status.Installed >= functionsVersion {
		status.warnLacking()
		status.warnUnpinned()
	}

	switch {
	case status.Installed > status.Available:
		return m.classifyNewer(ctx, tx, status)
	case status.Installed == status.Available:
		status.State = Current
		return nil
	}
	status.State = Behind
	status.Pending = m.migrations[status.Installed:]
	if status.breaking > 0 {
		status.Refusal = m.refuseRevision(status.breaking)
	} else if status.Installed < functionsVersion {
		m.planFunctions(ledger, status)
		m.planPaths(status)
	}
	return nil
}

// readInstalled compares the functions and triggers with the table of installed objects, which not every role can read.
func (m *Migrator) readInstalled(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	if !e.mayRead {
		return nil
	}
	if err := m.readObjects(ctx, tx, e, status); err != nil {
		return err
	}
	if changed := status.Changed(); len(changed) > 0 {
		status.warn("%d of the functions and triggers in schema %s are not ours; gw-migrate status lists them, "+
			"gw-migrate repair puts ours back", len(changed), m.quoted())
	}
	return nil
}

// classifyNewer checks whether a later release has marked one of its versions as breaking for this program.
func (m *Migrator) classifyNewer(ctx context.Context, tx pgx.Tx, status *Status) error {
	status.State = Newer
	breaking, err := collect(ctx, tx, pgx.RowTo[int32],
		"select b.version from "+m.qualified("_gw_breaking_versions")+" as b")
	if err != nil {
		return fmt.Errorf("read breaking versions: %w", err)
	}
	if newest := slices.Max(append(breaking, 0)); newest > status.Available {
		status.Refusal = m.refuseNewer(status.Installed, newest, status.Available)
		return nil
	}
	status.warn("schema %s is at version %d, newer than this program, which is for %d; "+
		"no version since is marked as breaking, so this program works with it and leaves it as it is",
		m.quoted(), status.Installed, status.Available)
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func collect[T any](ctx context.Context, db querier, to pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, _ := db.Query(ctx, query, args...) // CollectRows returns the error
	return pgx.CollectRows(rows, to)
}

func isCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}
