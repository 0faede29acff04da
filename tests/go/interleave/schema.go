package interleave

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// stopFunction is where a session waits. It reports the place by a notice, and waits for an advisory lock that the
// driver
// holds: the turn, which is the next number of the session's sequence, for numbers of a sequence stay drawn when a
// subtransaction is rolled back. A session without a number does not wait,
// nor does one at a place that it is told to pass.
const stopFunction = `
	create schema interleave;
	grant usage on schema interleave to public;
	create table interleave.lease as select 0::bigint as at; -- of the job that is running when a world begins
	create function interleave.stop(place text)
	  returns boolean
	  language plpgsql
	  set search_path = pg_catalog, pg_temp
	  set client_min_messages = notice
	  set lock_timeout = 0 -- the function that waits here may have one, for locks of its own
	as $$
	declare
	  session integer := nullif(current_setting('interleave.session', true), '');
	  turn    integer;
	begin
	  if session is not null and place <> all (string_to_array(current_setting('interleave.pass'), ',')) then
	    turn := session * ` + turnsOfASession + ` + nextval('interleave.turns' || session);
	    raise notice '%', place using errcode = '` + stopCode + `';
	    perform pg_advisory_lock(` + stopClass + `, turn);
	    perform pg_advisory_unlock(` + stopClass + `, turn);
	  end if;
	  return false;
	end
	$$`

const (
	stopClass       = "7827318" // the first half of the advisory locks that are turns
	turnsOfASession = "10000000"
	stopCode        = "GWXST" // of the notices of stops
)

// addStops puts stops into every PL/pgSQL function of the schema graphile_worker, and returns them by their places. A
// function that is stable sees what the statement that calls it sees, and needs none.
func addStops(ctx context.Context, conn *pgx.Conn, prints *footprints) (map[string]stop, error) {
	if _, err := conn.Exec(ctx, stopFunction+";"+emptyFunction); err != nil {
		return nil, fmt.Errorf("make the stop: %w", err)
	}
	rows, err := conn.Query(ctx, `
		select p.oid::regprocedure::text, p.proname, p.prosrc, pg_get_functiondef(p.oid)
		  from pg_proc as p
		  join pg_language as l on l.oid = p.prolang
		 where p.pronamespace = 'graphile_worker'::regnamespace and l.lanname = 'plpgsql' and p.provolatile = 'v'
		 order by 1`)
	if err != nil {
		return nil, fmt.Errorf("read the functions: %w", err)
	}
	type function struct{ Signature, Name, Body, Definition string }
	functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
	if err != nil {
		return nil, fmt.Errorf("read the functions: %w", err)
	}
	stops := make(map[string]stop)
	for _, f := range functions {
		stepped, found, err := withStops(f.Name, f.Body, func(text string) bool { return !prints.of(text).isEmpty() })
		if err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, strings.Replace(f.Definition, f.Body, stepped, 1)); err != nil {
			return nil, fmt.Errorf("put stops into %s: %w", f.Signature, err)
		}
		for _, s := range found {
			if _, ok := stops[s.place()]; ok {
				return nil, fmt.Errorf("put stops into %s: there are two stops %s", f.Signature, s.place())
			}
			stops[s.place()] = s
		}
	}
	return stops, nil
}
