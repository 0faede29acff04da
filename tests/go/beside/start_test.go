package beside

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/tests/go/nodegw"
)

// catalogue selects everything in the schema with the transaction that last wrote it, which every DDL statement changes, even CREATE OR
// REPLACE with the same definition.
const catalogue = `
	select string_agg(c.entry, e'\n' order by c.entry)
	  from (select 'relation ' || oid || ' ' || relname || ' ' || relfilenode || ' ' || xmin
	          from pg_class where relnamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'function ' || oid || ' ' || proname || ' ' || xmin
	          from pg_proc where pronamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'type ' || oid || ' ' || typname || ' ' || xmin
	          from pg_type where typnamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'column ' || a.attrelid || ' ' || a.attname || ' ' || a.xmin
	          from pg_attribute as a join pg_class as r on r.oid = a.attrelid
	         where r.relnamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'constraint ' || oid || ' ' || conname || ' ' || xmin
	          from pg_constraint where connamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'trigger ' || g.oid || ' ' || g.tgname || ' ' || g.xmin
	          from pg_trigger as g join pg_class as r on r.oid = g.tgrelid
	         where r.relnamespace = 'graphile_worker'::regnamespace
	        union all
	        select 'schema ' || oid || ' ' || xmin from pg_namespace where nspname = 'graphile_worker'
	        union all
	        select 'migration ' || id || ' ' || ts || ' ' || breaking || ' ' || xmin
	          from graphile_worker.migrations) as c (entry)`

func TestNodeStartsOnOurSchemaAndWorksWithoutDDL(t *testing.T) {
	for _, version := range []nodegw.Version{nodegw.V17, nodegw.V18} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			before := value[string](q, catalogue)
			nodegw.Utils(t, version, q.url, "", nodegw.Call{"migrate"}, nodegw.Call{"addJob", "a"})
			worker := q.node(nodegw.Options{Version: version}, "a")
			q.awaitEmpty()
			if version == nodegw.V17 {
				worker.Wait("the currently running worker only supports up to revision 19")
			}
			worker.Stop()
			equal(t, "jobs that ran", value[int](q, "select count(*) from ran"), 1)
			if after := value[string](q, catalogue); after != before {
				t.Errorf("the schema was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

func TestANodeWorkerThatIsTooOldForTheSchemaRefusesIt(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	before := value[string](q, catalogue)
	_, err := nodegw.TryUtils(t, nodegw.V16, q.url, "", nodegw.Call{"migrate"})
	if err == nil || !strings.Contains(err.Error(), "includes breaking migration 19") {
		t.Errorf("want a refusal because of migration 19, got %v", err)
	}
	equal(t, "the schema", value[string](q, catalogue), before)
}
