package interleave

import (
	"strings"
	"testing"
)

func TestStopsStandBeforeStatementsThatTouchTables(t *testing.T) {
	const body = `
#variable_conflict use_column
declare
  a integer;
  b integer := (select 1 from "graphile_worker".t);
begin
  a := 1;
  <<outer>>
  loop -- with a ; in a comment
    if a = 1 and exists (select from "graphile_worker".t where x = case when true then 'then; it''s' end) then
      select 1 into a from "graphile_worker".t;
      exit outer when a > 1;
    elsif exists (select from "graphile_worker".t) then
      perform "graphile_worker".f(a);
    else
      null;
    end if;
  end loop;
  begin
    update "graphile_worker".t set x = $q$;$q$;
  exception when others then
    delete from "graphile_worker".t;
  end;
  return a;
end;
`
	stepped, stops, err := withStops("f", body,
		func(text string) bool { return strings.Contains(text, "graphile_worker") })
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, s := range stops {
		lines = append(lines, s.line)
	}
	want := []int{5, 10, 11, 13, 14, 20, 22}
	if len(lines) != len(want) {
		t.Fatalf("stops before lines %v, want %v in\n%s", lines, want, stepped)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("stops before lines %v, want %v", lines, want)
		}
	}
	for _, part := range []string{
		`_gw_stop_5 boolean := interleave.stop('f:5'); b integer := (select 1`,
		`if interleave.stop('f:11') then end if; select 1 into a`,
		`elsif interleave.stop('f:13') then elsif exists (select`,
	} {
		if !strings.Contains(stepped, part) {
			t.Errorf("%q is missing in\n%s", part, stepped)
		}
	}
}

func TestAConditionOfWhileWithATableIsRefused(t *testing.T) {
	_, _, err := withStops("f", `begin while exists (select from "graphile_worker".t) loop null; end loop; end`,
		func(text string) bool { return strings.Contains(text, "graphile_worker") })
	if err == nil {
		t.Error("it is accepted")
	}
}
