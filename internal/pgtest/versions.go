package pgtest

import "testing"

// OnOneVersion skips a test with -short, which CI uses on all versions of PostgreSQL but one. Such a test does not
// depend on the server, or on nothing more of it than other tests do.
func OnOneVersion(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("the same on each version of PostgreSQL")
	}
}
