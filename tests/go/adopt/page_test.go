package adopt_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// docs/adopt.md names the indexes that the adoption adds to Graphile Worker's tables, and what it grants to other roles.
func TestThePageNamesTheIndexesAndGrantsOfTheAdoption(t *testing.T) {
	database, role := adoptedWithRole(t, "alter role %[1]s bypassrls")
	names := texts(t, pgtest.Pool(t, database), `
		select c.relname::text
		  from pg_index as i
		  join pg_class as c on c.oid = i.indexrelid
		 where i.indrelid in ('graphile_worker._private_jobs'::regclass, 'graphile_worker._private_job_queues'::regclass)
		   and c.relname like '\_gw\_%'
		 union
		select c.relname::text
		  from pg_class as c
		 cross join aclexplode(c.relacl) as x
		 where c.relnamespace = 'graphile_worker'::regnamespace and x.grantee = $1::regrole
		   and c.relname not like '\_private\_%' and c.relname not in ('migrations', 'jobs')
		 order by 1`, role)
	if len(names) == 0 {
		t.Fatal("the adoption has added and granted nothing")
	}
	page, err := os.ReadFile("../../../docs/adopt.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/adopt.md does not name %s", name)
		}
	}
}
