package pgtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Session is a connection or a pool of pgx.
type Session interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Mutate replaces a part of the body of one of our functions in the schema graphile_worker, which breaks a rule that a
// test must then detect. It returns an error unless the body contains the part exactly once: then the function has
// changed, and the mutant must change as well.
func Mutate(ctx context.Context, s Session, function, sound, broken string) error {
	var definition string
	err := s.QueryRow(ctx, `
		select pg_get_functiondef(p.oid)
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname = $1`, function).Scan(&definition)
	if err != nil {
		return fmt.Errorf("read %s: %w", function, err)
	}
	if strings.Count(definition, sound) != 1 {
		return fmt.Errorf("%s must contain %q once", function, sound)
	}
	if _, err := s.Exec(ctx, strings.Replace(definition, sound, broken, 1)); err != nil {
		return fmt.Errorf("break %s: %w", function, err)
	}
	return nil
}
