package connection_test

import (
	"testing"

	"github.com/gwsql/gw/internal/connection"
)

func TestSchemaIsTheEnvironmentsElseGraphiles(t *testing.T) {
	if got := connection.Schema(env(nil)); got != "graphile_worker" {
		t.Errorf("without a variable: %q", got)
	}
	if got := connection.Schema(env(map[string]string{"GRAPHILE_WORKER_SCHEMA": "jobs"})); got != "jobs" {
		t.Errorf("with the variable: %q", got)
	}
}
