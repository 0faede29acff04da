package main

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestTheIndexesAreChosenAndPrinted(t *testing.T) {
	vars := map[string]string{"DATABASE_URL": pgtest.Database(t)}
	if got := gwMigrate(t, vars, "status"); strings.Contains(got.stdout, "indexes") {
		t.Errorf("status of an install: %s", got.stdout)
	}
	gwMigrate(t, vars, "tune", "--without-node").expect(t, exitOK, "", "has the indexes for a queue without Node workers")
	gwMigrate(t, vars, "tune", "--without-node").expect(t, exitOK, "", "nothing to do")
	gwMigrate(t, vars, "status", "--check").expect(t, exitOK, "indexes    for a queue without Node workers", "")
	gwMigrate(t, vars, "status", "--json").expect(t, exitOK, `"indexes":"without node"`, "")
	gwMigrate(t, vars, "tune", "--with-node").expect(t, exitOK, "", "build the indexes for a queue with Node workers")
	gwMigrate(t, vars, "status", "--json").expect(t, exitOK, `"indexes":"node"`, "")
}

func TestTuneIsRefusedWhileANodeWorkerListens(t *testing.T) {
	database := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), `LISTEN "jobs:insert"; LISTEN "worker:migrate";`); err != nil {
		t.Fatal(err)
	}
	gwMigrate(t, map[string]string{"DATABASE_URL": database}, "tune", "--without-node").expect(t, exitFailed, "", "Node workers use this queue: process ")
}

func TestTuneWithoutOneOfTheTwoIsAnErrorInTheCommandLine(t *testing.T) {
	vars := map[string]string{"DATABASE_URL": pgtest.Database(t)}
	for _, args := range [][]string{{"tune"}, {"tune", "--with-node", "--without-node"}} {
		gwMigrate(t, vars, args...).expect(t, exitUsage, "", "tune takes --without-node or --with-node")
	}
}
