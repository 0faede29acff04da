package migrate

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Kind is what an [Object] is.
type Kind string

const (
	Function Kind = "function"
	Trigger  Kind = "trigger"
)

// An Origin says whose an [Object] is.
type Origin string

const (
	Ours    Origin = "ours"
	Nodes   Origin = "node's"  // as Graphile Worker's revisions 18 to 20 make it
	Missing Origin = "missing" // not there, though our migrations made it
	Unknown Origin = "unknown" // changed by somebody, or made by a later Graphile Worker
)

// An Object is a function or a trigger that the queue is made of, and what stands in its place.
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

// Changed returns the objects that are not ours.
func (s Status) Changed() []Object {
	return slices.DeleteFunc(slices.Clone(s.Objects), func(o Object) bool { return o.Origin == Ours })
}

// nodeBodies are the MD5 sums of the bodies of Graphile Worker's functions at revisions 18 to 20, with :schema in place of
// the quoted name of the schema. Their names are those of the functions that belong to both of us.
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

// contractFunctions are the names of the functions that Graphile Worker has, too.
func contractFunctions() []string { return slices.Sorted(maps.Keys(nodeBodies())) }

// isShared reports whether a function is one of those that Graphile Worker has, too.
func isShared(o Object) bool {
	return o.Kind == Function && nodeBodies()[o.plainName()] != nil
}

func (m *Migrator) isNodes(o Object, body string) bool {
	sum := md5.Sum([]byte(strings.ReplaceAll(body, m.quoted(), ":schema")))
	return slices.Contains(nodeBodies()[o.plainName()], hex.EncodeToString(sum[:]))
}

// unquoted returns a function's body as tern's own command makes it, which gets the schema's name without quotes.
func (m *Migrator) unquoted(body string) string {
	return strings.ReplaceAll(body, m.quoted()+".", m.schema+".")
}

// readObjects tells for each definition what stands in its place, and adds what makes calls of the shared functions
// ambiguous.
func (m *Migrator) readObjects(ctx context.Context, tx pgx.Tx, definitions []definition) ([]Object, error) {
	objects := make([]Object, len(definitions))
	found, err := m.readDefinitions(ctx, tx, definitions)
	if err != nil {
		return nil, fmt.Errorf("read functions and triggers: %w", err)
	}
	for i, d := range definitions {
		o := d.object
		switch text := found[i]; {
		case text == nil:
			o.Origin = Missing
		case d.function != "" && m.unquoted(*text) == m.unquoted(d.body) || d.trigger != "" && d.isTrigger(*text):
			o.Origin = Ours
		case m.isNodes(o, *text):
			o.Origin = Nodes
		default:
			o.Origin = Unknown
		}
		objects[i] = o
	}
	overloads, err := m.readOverloads(ctx, tx, definitions)
	if err != nil {
		return nil, fmt.Errorf("read functions: %w", err)
	}
	return append(objects, overloads...), nil
}

// readDefinitions returns a function's body or a trigger's definition for each, nil for what is not there. A function that
// takes rows of a table of ours is not there without the table; before PostgreSQL 16 it is an error to look for it.
func (m *Migrator) readDefinitions(ctx context.Context, tx pgx.Tx, definitions []definition) ([]*string, error) {
	rowOf := regexp.MustCompile(`[(, ](` + regexp.QuoteMeta(m.quoted()) + `\._gw_\w+)`)
	var functions, tables, triggers []string
	for _, d := range definitions {
		if match := rowOf.FindStringSubmatch(d.function); match != nil {
			d.table = match[1]
		}
		functions = append(functions, d.function)
		tables = append(tables, d.table)
		triggers = append(triggers, d.trigger)
	}
	rows, err := tx.Query(ctx, `
		select case when d.function <> '' then p.prosrc
		            else pg_get_triggerdef(g.oid) || case when g.tgenabled in ('O', 'A') then '' else ' disabled' end end
		  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as d (function, "table", name, number)
		  left join pg_proc as p
		    on p.oid = case when d.function <> '' and (d."table" = '' or to_regclass(d."table") is not null)
		                    then to_regprocedure(d.function) end
		  left join pg_trigger as g on g.tgrelid = to_regclass(nullif(d."table", '')) and g.tgname = d.name
		 order by d.number`, functions, tables, triggers)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[*string])
}

// readOverloads returns the functions with the name of a shared one and other arguments.
func (m *Migrator) readOverloads(ctx context.Context, tx pgx.Tx, definitions []definition) ([]Object, error) {
	var names, functions []string
	for _, d := range definitions {
		if isShared(d.object) {
			names, functions = append(names, d.object.plainName()), append(functions, d.function)
		}
	}
	rows, err := tx.Query(ctx, `
		select p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
		  from pg_proc as p
		  join pg_namespace as n on n.oid = p.pronamespace
		 where n.nspname = $1
		   and p.proname = any ($2::text[])
		   and p.oid not in (select to_regprocedure(f.signature)::oid
		                       from unnest($3::text[]) as f (signature)
		                      where to_regprocedure(f.signature) is not null)
		 order by 1`, m.schema, names, functions)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Object, error) {
		o := Object{Kind: Function, Origin: Unknown}
		return o, row.Scan(&o.Name)
	})
}
