package pgtest

import "testing"

// A vacuum leaves what a snapshot may still see, and deletion of a job whose chunks are half gone fails.
func TestADamagedJobCanBeDeletedThoughASnapshotWasHeld(t *testing.T) {
	t.Parallel()
	pool := Pool(t, Database(t))
	Exec(t, pool, `select graphile_worker.add_job('task', (
		select to_json(string_agg(md5(n::text), '')) from generate_series(1, 1000) as n))`)
	released := make(chan error, 1)
	go func() {
		_, err := pool.Exec(t.Context(), `
			begin isolation level repeatable read;
			do $$ begin
			  while not exists (select from pg_class as jobs join pg_stat_all_tables as chunks on chunks.relid = jobs.reltoastrelid
			                     where jobs.oid = 'graphile_worker._private_jobs'::regclass and chunks.vacuum_count > 0) loop
			    perform pg_sleep(0.01);
			    perform pg_stat_clear_snapshot();
			  end loop;
			end $$;
			commit`)
		released <- err
	}()
	Await(t, pool, `select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')`)
	Damage(t, pool)
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `select payload::text from graphile_worker.jobs`); err == nil {
		t.Error("the payload can be read")
	}
	Exec(t, pool, `delete from graphile_worker._private_jobs`)
}
