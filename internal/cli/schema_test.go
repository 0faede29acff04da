package cli_test

import (
	"testing"

	"github.com/gwsql/gw/internal/cli"
)

func TestSchemaIsTheEnvironmentsElseGraphiles(t *testing.T) {
	if got := cli.Schema(env(nil)); got != "graphile_worker" {
		t.Errorf("without a variable: %q", got)
	}
	if got := cli.Schema(env(map[string]string{"GRAPHILE_WORKER_SCHEMA": "jobs"})); got != "jobs" {
		t.Errorf("with the variable: %q", got)
	}
}
