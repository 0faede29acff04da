package main

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/sql"
)

func TestEachRuleChangesCodeOnly(t *testing.T) {
	const text = `create or replace function {{.schema}}.f(a integer) returns integer language plpgsql
as $$
begin
  -- a < 1
  if a < 1 and '<' <> '-- > 1' and a <= b - 1 and b[1] >= least(a + 1, 10 - 1.5) and not exists (select g(1) from t) and a -> 1 then
    perform {{.schema}}._gw_wake(1) where '{{ replace "'" "''" .schema }} <' <> '>';
    insert into {{.schema}}._gw_gate_ends (limit_id) select 1 from t for update skip locked;
  end if;
end;
$$;
`
	found, err := ofFile("f.sql", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, m.rule+": "+m.broken)
	}
	const rest = ` and b[1] >= least(a + 1, 10 - 1.5) and not exists (select g(1) from t) and a -> 1 then`
	want := []string{
		`another comparison: if a <= 1 and '<' <> '-- > 1' and a <= b - 1` + rest,
		`another comparison: if a < 1 and '<' <> '-- > 1' and a < b - 1` + rest,
		`another comparison: if a < 1 and '<' <> '-- > 1' and a <= b - 1 and b[1] > least(a + 1, 10 - 1.5) and not exists (select g(1) from t) and a -> 1 then`,
		`no 1 added or taken: if a < 1 and '<' <> '-- > 1' and a <= b ` + rest,
		`no 1 added or taken: if a < 1 and '<' <> '-- > 1' and a <= b - 1 and b[1] >= least(a , 10 - 1.5) and not exists (select g(1) from t) and a -> 1 then`,
		`least and greatest: if a < 1 and '<' <> '-- > 1' and a <= b - 1 and b[1] >= greatest(a + 1, 10 - 1.5) and not exists (select g(1) from t) and a -> 1 then`,
		`no exclusion: if a < 1 and '<' <> '-- > 1' and a <= b - 1 and b[1] >= least(a + 1, 10 - 1.5)  and a -> 1 then`,
		`no notification: null;`,
		`no skip locked: insert into {{.schema}}._gw_gate_ends (limit_id) select 1 from t for update ;`,
		`no end: insert into public.no_ends (limit_id) select 1 from t for update skip locked;`,
	}
	for n := range max(len(got), len(want)) {
		if n >= len(got) || n >= len(want) || got[n] != want[n] {
			t.Errorf("found:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			break
		}
	}
}

func TestEveryFolderHasMutants(t *testing.T) {
	all, err := mutants(sql.FS)
	if err != nil {
		t.Fatal(err)
	}
	rulesOf, foldersOf := map[string]int{}, map[string]int{}
	for _, m := range all {
		rulesOf[m.rule]++
		foldersOf[strings.Split(m.file, "/")[2]]++
	}
	for _, r := range rules {
		if rulesOf[r.name] == 0 {
			t.Errorf("the rule %q finds nothing", r.name)
		}
	}
	for _, folder := range folders {
		if foldersOf[folder] == 0 {
			t.Errorf("there are no mutants of %s", folder)
		}
	}
	t.Log(len(all), rulesOf, foldersOf)
}
