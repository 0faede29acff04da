package gotest

import "github.com/gwsql/gw/internal/pgtest"

// mutate replaces a part of the body of one of our functions in this database.
func (s *session) mutate(function, sound, broken string) {
	s.t.Helper()
	if err := pgtest.Mutate(s.t.Context(), s.conn, function, sound, broken); err != nil {
		s.t.Fatal(err)
	}
}
