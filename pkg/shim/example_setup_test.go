package shim_test

import (
	"os"

	"github.com/gwsql/gw/internal/pgtest"
)

// database makes a database with the queue, names it in DATABASE_URL, and returns what drops it.
func database() func() {
	url, drop := pgtest.Example()
	before, isSet := os.LookupEnv("DATABASE_URL")
	if err := os.Setenv("DATABASE_URL", url); err != nil {
		panic(err)
	}
	return func() {
		drop()
		err := os.Unsetenv("DATABASE_URL")
		if isSet {
			err = os.Setenv("DATABASE_URL", before)
		}
		if err != nil {
			panic(err)
		}
	}
}
