package sqlstate

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestAnErrorIsATriggersIfOneOfTheUsersWasRunning(t *testing.T) {
	for where, want := range map[string]bool{
		"": false,
		"PL/pgSQL function graphile_worker._gw_complete_claim(text,bigint[],bigint) line 5 at SQL statement": false,
		"PL/pgSQL function graphile_worker._gw_free_queues(text,integer[]) line 3 at PERFORM\n" +
			"SQL statement \"SELECT graphile_worker.f(now())\"\n" +
			"PL/pgSQL function graphile_worker._gw_fail_jobs(text,bigint[]) line 9 at PERFORM": false,
		"PL/pgSQL function graphile_worker._gw_queue_freed() line 3 at PERFORM":                                                    false,
		"PL/pgSQL function \"Jobs of ours\"._gw_queue_freed() line 3 at PERFORM":                                                   false,
		"PL/pgSQL function public.audit() line 1 at RAISE":                                                                         true,
		"PL/pgSQL function \"audit jobs\"() line 1 at RAISE":                                                                       true,
		"PL/pgSQL function graphile_worker.audit() line 1 at RAISE":                                                                true,
		"SQL statement \"insert into x\nvalues (1)\"\nPL/pgSQL-Funktion audit() Zeile 1 bei SQL-Anweisung\nSQL-Anweisung »delete«": true,
		"PL/pgSQL function public.helper(integer) line 1 at RETURN\nfonction PL/pgSQL audit(), ligne 1, à PERFORM":                 true,
		"PL/Python function \"audit\"":                                                                                             true,
	} {
		if got := isFromTrigger(&pgconn.PgError{Where: where}); got != want {
			t.Errorf("%q: %t", where, got)
		}
	}
}
