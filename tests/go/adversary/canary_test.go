package adversary

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// canaryKey is the key of a job of another role, which the attackers know.
const canaryKey = "canary"

// canary are the objects that no hostile role may read or change: a waiting job, a job of a worker that sends
// heartbeats, a job of a worker that is not registered, and all settings and definitions. Their payloads, flags and
// errors have the secret in them, and one its key.
type canary struct {
	secret string
	before string
}

func newCanary(t *testing.T, owner *pgxpool.Pool) canary {
	t.Helper()
	c := canary{secret: "secret" + rand.Text()}
	const held, keeper = "canary-held", "keeper of canaries"
	for _, job := range []struct{ task, key string }{{"canary", canaryKey}, {held, c.secret}, {held, ""}} {
		pgtest.Exec(t, owner, `
			select graphile_worker.add_job($1, json_build_array($2::text), run_at => '2000-01-01', job_key => nullif($3, ''), flags => array[$2::text])`,
			job.task, c.secret, job.key)
	}
	pgtest.Exec(t, owner, `update graphile_worker._private_jobs set last_error = $1`, c.secret)
	pgtest.Exec(t, owner, `select graphile_worker.register_worker($1, array[$2::text])`, keeper, held)
	for _, worker := range []string{keeper, "foreigner"} {
		pgtest.Exec(t, owner, `select graphile_worker.get_job($1, array[$2::text])`, worker, held)
	}
	var err error
	if c.before, err = c.look(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	return c
}

// look returns everything that must not change, except the times of locks, which are renewed, and heartbeats of the
// worker that holds a canary.
func (c canary) look(ctx context.Context, owner *pgxpool.Pool) (found string, err error) {
	err = owner.QueryRow(ctx, `
		select concat_ws(E'\n',
		         (select string_agg((to_jsonb(j) - 'locked_at')::text, E'\n' order by j.id) from graphile_worker._private_jobs as j where j.id <= 1000003),
		         (select string_agg(s::text, E'\n' order by s.name) from graphile_worker._gw_settings as s),
		         (select string_agg(g::text, E'\n' order by g.role) from graphile_worker._gw_grants as g),
		         (select string_agg(m::text, E'\n' order by m.id) from graphile_worker.migrations as m),
		         (select md5(string_agg(concat_ws(' ', p.oid, p.prosrc, p.proacl, p.proconfig, p.prosecdef), ' ' order by p.oid))
		            from pg_proc as p
		           where p.pronamespace::regnamespace in ('graphile_worker'::regnamespace, 'graphile_worker_api'::regnamespace)),
		         (select count(*)::text from pg_class as c
		           where c.relnamespace in ('graphile_worker'::regnamespace, 'graphile_worker_api'::regnamespace)))
		  from (select array_agg(j.id) as ids, array_agg(graphile_worker._gw_lease(j.locked_at)) as leases
		          from graphile_worker._private_jobs as j
		         where j.locked_by = 'keeper of canaries') as held
		 cross join lateral graphile_worker.heartbeat('keeper of canaries', held.ids, held.leases)`).Scan(&found)
	return found, err
}
