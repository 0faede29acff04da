package interleave

import (
	"fmt"
	"testing"
)

func TestLockingClausesLockWhatIsInTheFromOfTheirSelect(t *testing.T) {
	for statement, want := range map[string]string{
		`select from graphile_worker.a as x`: `[]`,
		`select x.id into one from "graphile_worker".a as x where x.id is distinct from 1 order by x.id for no key update skip locked`:                            `[{true true true [a]}]`,
		`perform from graphile_worker.a as x where exists (select from graphile_worker.b) for key share`:                                                          `[{false true false [a]}]`,
		`delete from graphile_worker.a where id in (select x.id from graphile_worker.b as x join graphile_worker.c as y on true for update of x nowait) and true`: `[{true false true [b]}]`,
		`select from (select from graphile_worker.b) as s, graphile_worker.c for share`:                                                                           `[{false false false [b c]}]`,
		`select from (select from graphile_worker.b) as s, graphile_worker.c as t for update of s`:                                                                `[{true false false [b c]}]`,
		`with l as (select from graphile_worker.a as x for update) update graphile_worker.b set n = 1`:                                                            `[{true false false [a]}]`,
		`for x in select from graphile_worker.a as i join graphile_worker.b as j on true for update of i, j loop`:                                                 `[{true false false [a b]}]`,
	} {
		found := []string{}
		for _, l := range lockings(statement) {
			found = append(found, fmt.Sprintf("{%t %t %t %v}", l.update, l.key, l.skips, l.names))
		}
		if got := fmt.Sprint(found); got != want {
			t.Errorf("%s: %s instead of %s", statement, got, want)
		}
	}
}
