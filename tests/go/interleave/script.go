package interleave

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// formatOrder names an order by the sessions of its steps, from 1; one that is ended at a step is negative.
func formatOrder(order []int) string {
	texts := make([]string, len(order))
	for n, i := range order {
		number := i + 1
		if i < 0 {
			number = -(^i + 1)
		}
		texts[n] = strconv.Itoa(number)
	}
	return strings.Join(texts, ",")
}

// parseOrder reads what formatOrder writes.
func parseOrder(text string) (order []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		number, err := strconv.Atoi(field)
		if err != nil || number == 0 {
			return nil, fmt.Errorf("read the order %q: %q is no session", text, field)
		}
		if number < 0 {
			order = append(order, ^(-number - 1))
		} else {
			order = append(order, number-1)
		}
	}
	return order, nil
}

// scripts returns a finding as scripts for psql, by the names of their files. They are for a database with the schema
// graphile_worker and nothing else in it: stops.sql puts the stops into its functions, setup.sql makes the world, and
// control.sql, beside one psql for each session's script, selects which of them continues.
func (d *driver) scripts(ctx context.Context, f *finding) (map[string]string, error) {
	stops, err := d.stopsScript(ctx)
	if err != nil {
		return nil, err
	}
	scripts := map[string]string{
		"stops.sql":   stops,
		"setup.sql":   f.world.setup + "\n" + setupTurns(len(f.world.sessions)),
		"control.sql": f.control(),
		"README": "In a database in which gw-migrate has installed the schema, run stops.sql, then setup.sql. Then open a psql for control.sql\n" +
			"and for each sessionN.sql, run them by \\i, and do what control.sql says.\n\n" + f.String() + "\n",
	}
	for i, t := range f.world.sessions {
		scripts[fmt.Sprintf("session%d.sql", i+1)] = sessionScript(i, t, strings.Join(d.passed(f.world, i), ","))
	}
	return scripts, nil
}

// stopsScript returns what puts the stops into the functions of a schema.
func (d *driver) stopsScript(ctx context.Context) (string, error) {
	rows, err := d.control.Query(ctx, `
		select pg_get_functiondef(p.oid)
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.prosrc like '%interleave.stop(%'
		 order by p.proname`)
	if err != nil {
		return "", fmt.Errorf("read the functions: %w", err)
	}
	definitions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("read the functions: %w", err)
	}
	return strings.Join(append([]string{stopFunction, emptyFunction, goFunction}, definitions...), ";\n\n") + ";\n", nil
}

// goFunction lets a session continue from its stop to the next, as the driver does.
const goFunction = `
	create function interleave.go(session integer)
	  returns void
	  language plpgsql
	as $$
	declare
	  turn integer;
	begin
	  execute format('select last_value from interleave.turns%s', session) into turn;
	  perform pg_advisory_lock(` + stopClass + `, session * ` + turnsOfASession + ` + turn + 1);
	  perform pg_advisory_unlock(` + stopClass + `, session * ` + turnsOfASession + ` + turn);
	end
	$$`

// setupTurns makes the sequences of the sessions.
func setupTurns(sessions int) string {
	var b strings.Builder
	for n := range sessions {
		fmt.Fprintf(&b, "create sequence interleave.turns%d;\n", n+1)
	}
	b.WriteString(keepLease + ";\n")
	return b.String()
}

// sessionScript is what a session runs; it waits for the reader before each statement.
func sessionScript(i int, t transaction, passed string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "set seed to 0.5;\n%s;\nset interleave.session = %d;\nset interleave.pass = '%s';\n", warm, i+1,
		passed)
	for n, sql := range t.statements() {
		fmt.Fprintf(&b, "\\prompt 'session %d, statement %d: press return when control.sql says so ' _\n", i+1, n+1)
		if n == 0 {
			b.WriteString(t.begin() + "\n")
		}
		b.WriteString(strings.TrimSpace(sql) + ";\n")
	}
	return b.String()
}

// control is the script of the psql that selects which session continues.
func (f *finding) control() string {
	var b strings.Builder
	for i := range f.world.sessions {
		fmt.Fprintf(&b, "select pg_advisory_lock(%s, %d * %s + 1);\n", stopClass, i+1, turnsOfASession)
	}
	statement := make([]int, len(f.world.sessions))
	atStop := make([]bool, len(f.world.sessions))
	for n, step := range f.trace {
		if step.session < 0 {
			continue
		}
		switch {
		case step.ended:
			fmt.Fprintf(&b, "\\prompt 'step %d: end the psql of session %d, then press return here ' _\n", n+1,
				step.session+1)
		case atStop[step.session]:
			fmt.Fprintf(&b, "\\prompt 'step %d: press return here; session %d goes on to: %s ' _\nselect interleave.go(%d);\n",
				n+1, step.session+1, step.where, step.session+1)
		default:
			statement[step.session]++
			fmt.Fprintf(&b, "\\prompt 'step %d: press return in session %d for its statement %d, which goes on to: %s; then here ' _\n",
				n+1, step.session+1, statement[step.session], step.where)
		}
		copy(atStop, step.stops)
	}
	return b.String()
}
