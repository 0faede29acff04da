package demo

import (
	"testing"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

func TestPasswordsAreNotShown(t *testing.T) {
	for connection, want := range map[string]string{
		"postgres://me:secret@db.example:5433/app":          "postgres://me@db.example:5433/app",
		"host=/run/pg user=me password=secret dbname='a b'": "postgres://me@/a%20b?host=%2Frun%2Fpg&port=5432",
	} {
		got, err := urlWithoutPassword(cli.Database{Connection: connection})
		if err != nil || got != want {
			t.Errorf("%q, error %v, want %q", got, err, want)
		}
	}
}
