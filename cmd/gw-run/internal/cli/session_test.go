package cli

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// A list that is watched continues when its database cannot be reached for a while.
func TestASessionThatCouldNotReconnectTriesAgain(t *testing.T) {
	config, err := pgx.ParseConfig("postgres://127.0.0.1:1/none?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Config: config, schema: "graphile_worker"}
	for range 2 {
		if _, err := s.Ask(t.Context(), "select"); err == nil {
			t.Error("a server answers at port 1")
		}
	}
}
