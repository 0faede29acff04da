package main

import (
	"maps"
	"testing"

	"github.com/gwsql/gw/bench/internal/queue"
)

func TestNamedStatementsAreReadFromTheServersLog(t *testing.T) {
	const log = "2026-01-02 03:04:05.678 UTC [9] LOG:  statement: begin\n" +
		"2026-01-02 03:04:05.678 UTC [9] LOG:  execute get_job12F/" + queue.Schema + ": with j as (\n" +
		"\t  select 1\n" +
		"\t)\n" +
		"2026-01-02 03:04:05.678 UTC [9] DETAIL:  parameters: $1 = 'a\n" +
		"\tb'\n" +
		"2026-01-02 03:04:05.678 UTC [9] LOG:  execute <unnamed>: select 2\n" +
		"2026-01-02 03:04:05.678 UTC [9] LOG:  execute complete_job/" + queue.Schema + ": delete from t\n" +
		"2026-01-02 03:04:05.678 UTC [9] LOG:  execute complete_job/other: delete from o\n"
	want := nodeStatements{"get_job12F": "with j as (\n  select 1\n)", "complete_job": "delete from t"}
	if got := readLog(log); !maps.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}
