package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Kind is the kind of an [Object].
type Kind string

const (
	Function  Kind = "function"
	Procedure Kind = "procedure"
	Trigger   Kind = "trigger"
)

// An Origin is the origin of an [Object].
type Origin string

const (
	Ours    Origin = "ours"
	Nodes   Origin = "node's"  // as in Graphile Worker's revisions 18 to 20
	Missing Origin = "missing" // it does not exist, although our migrations created it
	Unknown Origin = "unknown" // changed by hand, or created by a later Graphile Worker
)

// An Object is a function or a trigger of the queue, and the origin of the one that exists.
type Object struct {
	Kind   Kind
	Name   string // with the types of the arguments, or with the table; without the schema
	Origin Origin
}

// String returns kind and name.
func (o Object) String() string { return string(o.Kind) + " " + o.Name }

// plainName returns a function's name alone.
func (o Object) plainName() string {
	name, _, _ := strings.Cut(o.Name, "(")
	return name
}

// Changed returns the objects that are not those of gw.
func (s Status) Changed() []Object {
	return slices.DeleteFunc(slices.Clone(s.Objects), func(o Object) bool { return o.Origin == Ours })
}

// nodeBodies are the MD5 sums of the bodies of Graphile Worker's functions at revisions 18 to 20, with :schema in place
// of the quoted name of the schema. Their names are those of the functions that both have.
func nodeBodies() map[string][]string {
	return map[string][]string{
		"add_job":               {"bc95d9771f3644a0dc2fe3519f5e9183", "67dbffee47d77ece82efaeaa29677245"},
		"add_jobs":              {"acd33ea2d8f1b656225aaf3d01cbf4b8", "a587e3ae22b9c70a64d8e9deb43e71f2"},
		"complete_jobs":         {"7217544a12d63f88ce5a2c8bec36d18d"},
		"force_unlock_workers":  {"42d44ae01206d23edd336edbfa2ac750"},
		"permanently_fail_jobs": {"16deae832451987d6c8169ff98355c55"},
		"remove_job":            {"c1e936d57f63c367627a0ecc331e1adf"},
		"reschedule_jobs":       {"84145822f349c3fab501734d15a188db"},
	}
}

// contractFunctions are the names of the functions that Graphile Worker also has.
func contractFunctions() []string { return slices.Sorted(maps.Keys(nodeBodies())) }

func (m *Migrator) isNodes(o Object, body string) bool {
	return slices.Contains(nodeBodies()[o.plainName()], digest(strings.ReplaceAll(body, m.quoted(), ":schema")))
}

// objectsQuery compares _gw_installed ($INSTALLED, which may be an empty set) with the existing objects, as doctor()
// does by _gw_find_replaced_functions(), but without running a function that may have been replaced.
const objectsQuery = `
with there as (
  select case p.prokind when 'p' then 'procedure' else 'function' end as kind, p.oid::regprocedure::text as name, p.proname::text as plain, md5(p.prosrc) as digest, p.prosrc as body
    from pg_proc as p
   where p.pronamespace = (select n.oid from pg_namespace as n where n.nspname = $1)
  union all
  select 'trigger', quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass, null,
         md5(translate(lower(pg_get_triggerdef(t.oid)), e'"() \n', '')
             || case when t.tgenabled in ('O', 'A') then '' else ' disabled' end), null
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
   where c.relnamespace = (select n.oid from pg_namespace as n where n.nspname = $1) and not t.tgisinternal
), installed as (
  select split_part(i.object, ' ', 1) as kind, substr(i.object, strpos(i.object, ' ') + 1) as name, i.digest
    from $INSTALLED as i (object, digest)
)
select coalesce(i.kind, t.kind), replace(replace(coalesce(i.name, t.name), $2, ''), ',', ', '),
       coalesce(i.digest, ''), coalesce(t.digest, ''), coalesce(t.body, '')
  from there as t
  full join installed as i on i.kind = t.kind and i.name = t.name
 where i.name is not null
    or t.plain = any ($3::text[])
 order by i.name is null, 1, 2`

// readObjects reads the functions and triggers that are recorded as ours, with the origin of the existing ones,
// followed by other functions with the name of one that Graphile Worker also has.
func (m *Migrator) readObjects(ctx context.Context, tx pgx.Tx, e evidence, status *Status) error {
	installed := "(values (null::text, null::text))"
	if e.has(installedTable) {
		installed = m.qualified(installedTable)
	}
	query := strings.ReplaceAll(objectsQuery, "$INSTALLED", installed)
	rows, _ := tx.Query(ctx, query, m.schema, e.qualifier, contractFunctions()) // ForEachRow returns the error
	status.recorded = make(map[Object]string)
	var o Object
	var recorded, found, body string
	_, err := pgx.ForEachRow(rows, []any{&o.Kind, &o.Name, &recorded, &found, &body}, func() error {
		switch {
		case found == "":
			o.Origin = Missing
		case found == recorded:
			o.Origin = Ours
		case m.isNodes(o, body):
			o.Origin = Nodes
		default:
			o.Origin = Unknown
		}
		status.Objects = append(status.Objects, o)
		if recorded != "" {
			status.recorded[o] = recorded
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read functions and triggers: %w", err)
	}
	return nil
}

// inTheWay returns the objects, in a schema without a queue of gw, that have the name and the arguments of a function
// of gw that Graphile Worker does not have, or the name and the table of a trigger of gw.
func (m *Migrator) inTheWay(ctx context.Context, tx pgx.Tx, e evidence) ([]string, error) {
	var functions, tables, triggers []string
	for _, d := range m.definitions(m.migrations) {
		switch {
		case d.kind == Trigger:
			tables, triggers = append(tables, d.table), append(triggers, strings.Fields(d.name)[0])
		case nodeBodies()[d.name] == nil && !strings.Contains(d.signature[len(m.quoted()):], m.quoted()+"._gw_"):
			functions = append(functions, d.signature) // functions of our types cannot exist, and before PostgreSQL 16 to_regprocedure fails for them
		}
	}
	found, err := collect(ctx, tx, pgx.RowTo[string], `
		select distinct 'function ' || replace(to_regprocedure(f.signature)::text, $4::text, '')
		  from unnest($1::text[]) as f (signature)
		 where to_regprocedure(f.signature) is not null
		union all
		select 'trigger ' || t.tgname || ' on ' || replace(t.tgrelid::regclass::text, $4::text, '')
		  from unnest($2::text[], $3::text[]) as d ("table", name)
		  join pg_trigger as t on t.tgrelid = to_regclass(d."table") and t.tgname = d.name
		 order by 1`, functions, tables, triggers, e.qualifier)
	if err != nil {
		return nil, fmt.Errorf("look for conflicting objects: %w", err)
	}
	return found, nil
}
