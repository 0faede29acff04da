package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

func TestALostListeningConnectionIsMadeAnewAndMissesNothing(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	ran := make(chan struct{}, 1)
	w.Handle("ping", func(context.Context, *shim.Job) error {
		ran <- struct{}{}
		return nil
	})
	w.start()
	pid := q.awaitListening()
	for _, addBefore := range []bool{true, false} {
		q.exec(`select pg_terminate_backend($1)`, pid)
		if addBefore {
			q.await(`select not exists (select from pg_stat_activity where pid = $1)`, pid)
			q.add("ping", 1) // announced to nobody
			receive(t, ran)
		}
		pid = q.awaitListening(pid)
		q.add("ping", 1)
		receive(t, ran)
	}
}

func TestABreakingMigrationEndsTheWorkerAndAnyOtherDoesNot(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	ran := make(chan struct{}, 1)
	w.Handle("ping", func(context.Context, *shim.Job) error {
		ran <- struct{}{}
		return nil
	})
	w.start()
	q.awaitListening()

	q.exec(`insert into graphile_worker.migrations (id, breaking) values (1000, false);
	        select pg_notify('worker:migrate', '{"migrationNumber":1000,"breaking":true}')`)
	q.add("ping", 1)
	receive(t, ran)

	q.exec(`insert into graphile_worker.migrations (id, breaking) values (1001, true); notify "worker:migrate"`)
	if err := w.wait(); !errors.Is(err, shim.ErrBreakingMigration) {
		t.Errorf("Run returned %v", err)
	}

	late := q.worker(shim.Config{})
	late.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	if err := late.RunOnce(t.Context()); !errors.Is(err, shim.ErrBreakingMigration) {
		t.Errorf("a new worker's run returned %v", err)
	}
}

// A later release marks the versions of the schema that workers before it must not work with.
func TestABreakingVersionOfTheSchemaEndsTheWorkerAndAnyOtherDoesNot(t *testing.T) {
	q := newQueue(t)
	available, err := migrate.Available()
	if err != nil {
		t.Fatal(err)
	}
	q.exec("insert into graphile_worker._gw_breaking_versions values ($1)", available)
	w := q.worker(shim.Config{})
	w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	w.start()
	q.awaitListening()
	q.exec("insert into graphile_worker._gw_breaking_versions values ($1)", available+1)
	q.exec(`notify "worker:migrate"`)
	if err := w.wait(); !errors.Is(err, shim.ErrBreakingMigration) ||
		!strings.Contains(err.Error(), "upgrade the worker") {
		t.Errorf("Run returned %v", err)
	}
	late := q.worker(shim.Config{})
	late.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	if err := late.RunOnce(t.Context()); !errors.Is(err, shim.ErrBreakingMigration) {
		t.Errorf("a new worker's run returned %v", err)
	}
}

func TestAListenConfigOfItsOwnIsUsed(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config().ConnConfig
	config.RuntimeParams["application_name"] = "ears"
	w := q.worker(shim.Config{ListenConfig: config})
	w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
	w.start()
	pid := q.awaitListening()
	if got := value[string](q, `select application_name from pg_stat_activity where pid = $1`, pid); got != "ears" {
		t.Errorf("the listening connection is %q", got)
	}
}
