package interleave

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// footprints finds footprints in the text of statements: of the tables they name, and of those that the views they read
// and the functions without stops that they call name.
type footprints struct {
	tables    set
	sequences set
	calls     map[string]string // text that runs when something of this name is called or read
	known     map[string]footprint
	fresh     set                  // functions without stops that do not see what the statement sees that calls them
	rests     map[string]footprint // by statement
	callees   *callees
}

var (
	named    = regexp.MustCompile(`"?graphile_worker"?\."?([a-z_0-9]+)`)
	changed  = regexp.MustCompile(`(?:insert\s+into|update|delete\s+from)\s+"?graphile_worker"?\."?([a-z_0-9]+)`)
	created  = regexp.MustCompile(`insert\s+into\s+"?graphile_worker"?\."?([a-z_0-9]+)`)
	advisory = regexp.MustCompile(`_advisory_\w*lock(_shared)?`)
	turns    = regexp.MustCompile(`_gw_turns as t where t\.name = '(\w+)'`)
	snapshot = regexp.MustCompile(`_current_snapshot\b`)
	dynamic  = regexp.MustCompile(`\bexecute\b`)
)

func newFootprints(ctx context.Context, conn *pgx.Conn) (*footprints, error) {
	f := &footprints{set{}, set{}, map[string]string{}, map[string]footprint{}, set{}, map[string]footprint{},
		&callees{map[string]string{}, set{}, map[string]set{}}}
	rows, err := conn.Query(ctx, `
		select c.relname, case c.relkind when 'S' then 'sequence' else 'table' end, ''
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'p', 'S')
		union all
		select c.relname, 'view', pg_get_viewdef(c.oid)
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'v'
		union all
		select p.proname, case when p.prorettype = 'trigger'::regtype then 'trigger' when p.provolatile <> 'v' then 'stable' else l.lanname end, p.prosrc
		  from pg_proc as p
		  join pg_language as l on l.oid = p.prolang
		 where p.pronamespace = 'graphile_worker'::regnamespace`)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var name, kind, text string
	_, err = pgx.ForEachRow(rows, []any{&name, &kind, &text}, func() error {
		switch kind {
		case "table":
			f.tables[name] = true
		case "sequence":
			f.sequences[name] = true
		case "trigger":
			f.callees.triggers[name] = true
		case "plpgsql":
			f.callees.bodies[name] += text
		default:
			f.fresh[name] = f.fresh[name] || kind == "sql"
			f.calls[name] += text
			f.callees.bodies[name] += text
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return f, nil
}

// turnsTable is a table of which statements name the row that they read.
const turnsTable = "_gw_turns"

// of returns the footprint of a statement. Dynamic SQL counts for all tables.
func (f *footprints) of(statement string) footprint {
	if known, ok := f.known[statement]; ok {
		return known
	}
	found := newFootprint()
	f.known[statement] = found // for functions that call each other
	text := withoutComments(statement)
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		switch {
		case len(classesOf(m[1])) > 0: // see below
		case f.tables[m[1]]:
			found.reads[m[1]] = true
		case f.sequences[m[1]]: // whose numbers stay drawn, and are seen at once
			found.writes[m[1]] = true
		default:
			found.add(f.of(f.calls[m[1]]))
		}
	}
	maps.Copy(found.reads, mentionedRows(statement))
	for _, m := range changed.FindAllStringSubmatch(text, -1) {
		found.writes[m[1]] = true
	}
	for _, m := range created.FindAllStringSubmatch(text, -1) {
		found.creates[m[1]] = true
	}
	f.addLocks(found, statement)
	for _, m := range advisory.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			found.shares["advisory"] = true
		} else {
			found.writes["advisory"] = true
		}
	}
	if rows := turns.FindAllStringSubmatch(text, -1); len(rows) == strings.Count(text, turnsTable) {
		for _, of := range []set{found.reads, found.skips} {
			if !of[turnsTable] {
				continue
			}
			delete(of, turnsTable)
			for _, row := range rows {
				of[turnsTable+" "+row[1]] = true
			}
		}
	}
	if snapshot.MatchString(text) {
		found.reads[inProgress] = true
	}
	if dynamic.MatchString(text) {
		maps.Copy(found.reads, f.tables)
		maps.Copy(found.writes, f.tables)
		maps.Copy(found.creates, f.tables)
	}
	f.known[statement] = found
	return found
}

// addLocks adds what the locking clauses of a statement lock and skip.
func (f *footprints) addLocks(found footprint, statement string) {
	for _, l := range lockings(statement) {
		for _, name := range l.names {
			tables := tablesOf(f.of(f.calls[name]).reads) // of a view
			if f.tables[name] {
				tables = set{name: true}
			}
			if l.update || !l.key {
				maps.Copy(found.writes, tables)
			}
			if !l.update {
				maps.Copy(found.shares, tables)
			}
			switch {
			case l.skips && f.tables[name] && len(l.names) == 1:
				maps.Copy(found.skips, l.rows)
			case l.skips:
				maps.Copy(found.skips, tables)
			}
		}
	}
}

// restOf returns the footprint of the rest of a statement, after a function with stops that it calls. The statement
// sees what was committed before it began, except in rows that it locks.
func (f *footprints) restOf(statement string) footprint {
	if known, ok := f.rests[statement]; ok {
		return known
	}
	all, rest := f.of(statement), newFootprint()
	f.rests[statement] = rest // for functions that call each other
	text := withoutComments(statement)
	if dynamic.MatchString(text) {
		rest.add(all)
		return rest
	}
	rest.add(footprint{skips: all.skips, writes: all.writes, shares: all.shares, creates: all.creates})
	for name := range all.reads {
		if all.mayLock()[tableOf(name)] {
			rest.reads[name] = true
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		switch called := f.calls[m[1]]; {
		case f.fresh[m[1]]:
			maps.Copy(rest.reads, f.of(called).reads)
		case called != "":
			maps.Copy(rest.reads, f.restOf(called).reads)
		}
	}
	return rest
}

// withoutComments returns a statement in lower case with single spaces between its tokens.
func withoutComments(statement string) string {
	from := 0
	var b strings.Builder
	for i, t := range scan(statement) {
		if i > 0 && t.start > from {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		from = t.end
	}
	return b.String()
}
