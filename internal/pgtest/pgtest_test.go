package pgtest

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

func TestADatabaseIsMigratedAndItsOwn(t *testing.T) {
	first, second := Pool(t, Database(t)), Pool(t, Database(t))
	if _, err := first.Exec(t.Context(), "select graphile_worker.add_job('a')"); err != nil {
		t.Fatal(err)
	}
	var here, there int
	if err := first.QueryRow(t.Context(), "select count(*) from graphile_worker.jobs").Scan(&here); err != nil {
		t.Fatal(err)
	}
	if err := second.QueryRow(t.Context(), "select count(*) from graphile_worker.jobs").Scan(&there); err != nil {
		t.Fatal(err)
	}
	if here != 1 || there != 0 {
		t.Errorf("the databases have %d and %d jobs, want 1 and 0", here, there)
	}
}

func TestAnEmptyDatabaseHasNoSchemaOfOurs(t *testing.T) {
	var there bool
	err := Pool(t, EmptyDatabase(t)).QueryRow(t.Context(),
		"select to_regnamespace('graphile_worker') is not null").Scan(&there)
	if err != nil || there {
		t.Errorf("the schema is there: %v, %v", there, err)
	}
}

func TestADatabaseIsDroppedAfterItsTestWhoeverIsConnected(t *testing.T) {
	var name string
	t.Run("a test that leaves a session open", func(t *testing.T) {
		conn, err := pgx.Connect(context.Background(), EmptyDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "select current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	var there bool
	err := Pool(t, os.Getenv(serverVariable)).
		QueryRow(t.Context(), "select exists (select from pg_database d where d.datname = $1)", name).Scan(&there)
	if err != nil || name == "" || there {
		t.Errorf("the database %q is there: %v, %v", name, there, err)
	}
}
