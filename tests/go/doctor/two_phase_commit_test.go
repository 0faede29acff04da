package doctor_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestANotificationThatForbidsTwoPhaseCommitIsTold(t *testing.T) {
	pool := install(t, pgtest.Server(t, map[string]string{"max_prepared_transactions": "1"}).URL("postgres"))
	addAndPrepare := func() error {
		return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "select graphile_worker.add_job('greet')")
			if err != nil {
				return err
			}
			_, err = tx.Exec(t.Context(), "prepare transaction 'added'")
			return err
		})
	}

	const finding, subject = "two-phase commit", "setting notify"
	if !pgtest.Value[bool](t, pool, told, finding, subject) {
		t.Error("it is not reported")
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](addAndPrepare()); !ok || refusal.Code != "0A000" {
		t.Errorf("PREPARE TRANSACTION after add_job: %v", refusal)
	}

	pgtest.Exec(t, pool, remedy(t, pool, finding, subject))
	if pgtest.Value[bool](t, pool, told, finding, subject) {
		t.Error("it is reported after its remedy")
	}
	if err := addAndPrepare(); err != nil && !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Errorf("PREPARE TRANSACTION after the remedy: %v", err)
	}
	pgtest.Exec(t, pool, "commit prepared 'added'")
	pgtest.Await(t, pool, "select count(*) = 1 from graphile_worker.jobs")
}
