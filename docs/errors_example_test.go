package docs_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
)

func isCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}

func TestAProgramRecognisesAnErrorByItsCode(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	_, err := pool.Exec(t.Context(), "select from graphile_worker.add_job('greet', job_key => '')")
	if !isCode(err, "GWBJK") {
		t.Errorf("got %v", err)
	}
}
