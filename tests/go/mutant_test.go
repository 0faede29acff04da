package gotest

import "strings"

// mutate replaces a part of the body of one of our functions in this database.
func (s *session) mutate(function, sound, broken string) {
	s.t.Helper()
	definition := one[string](s, `
		select pg_get_functiondef(p.oid)
		  from pg_proc as p
		 where p.pronamespace = 'graphile_worker'::regnamespace and p.proname = $1`, function)
	if strings.Count(definition, sound) != 1 {
		s.t.Fatalf("%s must contain %q once", function, sound)
	}
	s.exec(strings.Replace(definition, sound, broken, 1))
}
