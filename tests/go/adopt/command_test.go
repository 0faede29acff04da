package adopt_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

func TestTheCommandsAdoptOnRequestOnly(t *testing.T) {
	pgtest.OnOneVersion(t)
	gwMigrate, gwRun := pgtest.Program(t, "gw-migrate"), pgtest.Program(t, "gw-run")
	database := pgtest.EmptyDatabase(t)
	nodegw.Migrate(t, nodegw.V16, database, "")
	before := shape(t, pgtest.Pool(t, database), "graphile_worker")
	for _, c := range []struct {
		program string
		args    []string
		code    int
		output  []string
	}{
		{gwRun, []string{"--schema-only"}, 1, []string{"was created by Graphile Worker (revision 18)",
			"let gw-migrate adopt it"}},
		{gwMigrate, []string{"status", "--check"}, 1, []string{"revision   18 of Graphile Worker", "--from-18"}},
		{gwMigrate, nil, 1, []string{"older than 0.17", "--from-18"}},
		{gwMigrate, []string{"--from-18", "--dry-run"}, 0, []string{
			"warning: Node workers older than 0.17 will refuse to start",
			"would adopt Graphile Worker's tables instead of 000001_contract.sql\nwould apply 000002",
		}},
	} {
		run(t, c.program, database, c.args, c.code, c.output...)
	}
	if found := differences(before, shape(t, pgtest.Pool(t, database), "graphile_worker")); found != nil {
		t.Errorf("changed: %v", found)
	}

	nodegw.Migrate(t, nodegw.V18, database, "")
	run(t, gwMigrate, database, []string{"status", "--check"}, 3, "state      graphile", "gw-migrate takes it over",
		"adopt      000001")
	run(t, gwMigrate, database, nil, 0, "adopt Graphile Worker's tables instead of 000001_contract.sql\napply 000002",
		"is now at version")
	run(t, gwMigrate, database, []string{"status", "--check"}, 0, "state      current",
		"revision   20 of Graphile Worker")
	run(t, gwRun, database, []string{"--schema-only"}, 0)
}

func run(t *testing.T, program, database string, args []string, code int, want ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append(args, "--connection", database)...)
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s %v: exit %d, want %d\n%s", filepath.Base(program), args, got, code, output)
	}
	for _, part := range want {
		if !strings.Contains(string(output), part) {
			t.Errorf("%s %v: no %q in\n%s", filepath.Base(program), args, part, output)
		}
	}
}
