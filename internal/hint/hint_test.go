package hint_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/hint"
)

func TestErrorsOfTheDatabaseSayWhatToDo(t *testing.T) {
	for code, c := range map[string]struct{ message, want string }{
		"3D000": {`database "app" does not exist`, "; create it with: createdb app"},
		"25006": {"cannot execute INSERT in a read-only transaction", "; the server is read-only"},
		"40001": {"x", ""},
		"42704": {`unrecognized configuration parameter "foo"`,
			"; the connection string or the environment names foo, which is"},
	} {
		err := fmt.Errorf("connect: %w", &pgconn.PgError{Severity: "FATAL", Code: code, Message: c.message})
		got := hint.For(err)
		if !errors.Is(got, err) || !strings.HasPrefix(got.Error(), err.Error()+c.want) || (c.want == "" && got != err) {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	odd := hint.For(&pgconn.PgError{Code: "3D000", Message: `database "a b" does not exist`})
	if !strings.HasSuffix(odd.Error(), "; create it with: createdb") {
		t.Error(odd)
	}
}
