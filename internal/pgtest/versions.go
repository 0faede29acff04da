package pgtest

import "testing"

// OnOneVersion leaves out a test under -short, as on all versions of PostgreSQL but one: what it is about does not depend
// on the server, or not on more of it than other tests do.
func OnOneVersion(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("the same on each version of PostgreSQL")
	}
}
