package shim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAWorkerWithPrivilegesOnAllTablesLearnsWhoMayWork(t *testing.T) {
	q := newQueue(t)
	role := pgx.Identifier{"granted_" + value[string](q, `select current_database()::text`)}.Sanitize()
	q.exec(`create role ` + role + `; grant all on schema graphile_worker to ` + role +
		`; grant all on all tables in schema graphile_worker to ` + role +
		`; grant all on all sequences in schema graphile_worker to ` + role +
		`; grant all on all functions in schema graphile_worker to ` + role)
	t.Cleanup(func() {
		_, _ = q.pool.Exec(context.WithoutCancel(t.Context()), `drop owned by `+role+`; drop role `+role)
	})
	config := pgtest.Pool(t, q.url).Config()
	config.ConnConfig.RuntimeParams["role"] = strings.Trim(role, `"`)
	w := q.workerOn(q.poolOf(config), shim.Config{})
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	err := w.RunOnce(t.Context())
	if err == nil || !strings.Contains(err.Error(), "row-level security") ||
		!strings.HasSuffix(err.Error(), "run the worker as the owner of the queue, or as a role of gw-migrate grants --worker") {
		t.Errorf("the error is %v", err)
	}
}
