package neighbours

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// namesakes creates functions and operators in public with the names of PostgreSQL's own; each records its calls.
const namesakes = `
	do $do$
	declare
	  command text;
	begin
	  for command in
	    select format('create function public.%I(%s) returns %s language plpgsql as $$ begin perform public.mark(%L); return null; end $$',
	                  p.proname, oidvectortypes(p.proargtypes), format_type(p.prorettype, null), p.oid::regprocedure)
	      from pg_proc as p
	      join pg_type as r on r.oid = p.prorettype
	     where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and not p.proretset
	       and r.typtype = 'b'
	       and not exists (select from unnest(p.proargtypes) as a (type) join pg_type as t on t.oid = a.type where t.typtype <> 'b')
	    union all
	    select format('create function public.op%s(%s) returns %s language plpgsql as $$ begin perform public.mark(%L); return null; end $$; '
	                  'create operator public.%s (%s, function = public.op%1$s)',
	                  o.oid, concat_ws(', ', l.typname, r.typname), format_type(o.oprresult, null), o.oid::regoperator, o.oprname,
	                  concat_ws(', ', 'leftarg = ' || format_type(l.oid, null), 'rightarg = ' || format_type(r.oid, null)))
	      from pg_operator as o
	      left join pg_type as l on l.oid = o.oprleft
	      join pg_type as r on r.oid = o.oprright
	     where o.oprnamespace = 'pg_catalog'::regnamespace and coalesce(l.typtype, 'b') = 'b' and r.typtype = 'b'
	       and left(coalesce(l.typname, ''), 1) <> '_' and left(r.typname, 1) <> '_' and l.typname is distinct from 'char' and r.typname <> 'char'
	  loop
	    execute command;
	  end loop;
	end $do$`

// exact are functions with the exact argument types of calls for which PostgreSQL's own function is polymorphic or needs a conversion.
var exact = []string{
	"create function public.exp(integer) returns double precision language plpgsql as $$ begin perform public.mark('exp'); return 1; end $$",
	"create function public.cardinality(bigint[]) returns integer language plpgsql as $$ begin perform public.mark('cardinality'); return 1; end $$",
	"create function public.unnest(bigint[]) returns setof bigint language plpgsql as $$ begin perform public.mark('unnest'); end $$",
	"create function public.array_position(integer[], integer) returns integer language plpgsql as $$ begin perform public.mark('array_position'); return 1; end $$",
	"create function public.times(bigint, interval) returns interval language plpgsql as $$ begin perform public.mark('times'); return null; end $$",
	"create operator public.* (leftarg = bigint, rightarg = interval, function = public.times)",
	"create function public.array_agg(bigint) returns bigint[] language plpgsql as $$ begin perform public.mark('array_agg'); return null; end $$",
	"create function public.count(bigint) returns bigint language plpgsql as $$ begin perform public.mark('count'); return 1; end $$",
}

func TestNoNameOfTheNeighboursIsTakenForOneOfPostgreSQL(t *testing.T) {
	for name, path := range map[string]string{"after pg_catalog": "public", "before pg_catalog": "public, pg_catalog"} {
		t.Run(name, func(t *testing.T) {
			s := newStreet(t, false)
			s.as(s.mallory, exact...)
			if path != "public" {
				s.as(s.mallory, namesakes)
			}
			database := pgx.Identifier{s.admin.Config().ConnConfig.Database}.Sanitize()
			s.as("", "alter database "+database+" set search_path = "+path)
			s.works()
			s.isUnharmed()
		})
	}
}

// works installs the queue and uses all its functions as the victim.
func (s *street) works() {
	s.t.Helper()
	s.mustRun("gw-migrate")
	s.mustRun("gw-migrate", "status")
	tasks := s.t.TempDir()
	if err := os.WriteFile(filepath.Join(tasks, "ok"), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tasks, "bad"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"add", "ok", "{}", "--queue", "q"}, {"add", "ok", "{}", "--in", "0s", "--key", "k"},
		{"add", "bad", "[]", "--queue", "q"},
		{"--tasks", tasks, "--once"},
		{"jobs"}, {"queues"}, {"tasks"}, {"workers"}, {"stats"}, {"doctor"}, {"cron", "list"},
		{"reschedule", "--in", "1h", "3"}, {"retry", "3"}, {"fail", "3"}, {"cleanup"},
	} {
		if output, err := s.run("gw-run", args...); err != nil && args[0] != "doctor" {
			s.t.Errorf("gw-run %q: %v: %s", args, err, output)
		}
	}
	s.uses()
}

// uses calls the library over connections with the database's search_path.
func (s *street) uses() {
	s.t.Helper()
	config := s.admin.Config()
	config.ConnConfig.RuntimeParams["role"] = s.victim
	pool, err := shim.Open(s.t.Context(), s.url+"&options=-c%20role%3D"+s.victim)
	if err != nil {
		s.t.Fatal(err)
	}
	defer pool.Close()
	w, err := shim.New(pool, shim.Config{Concurrency: 2})
	if err != nil {
		s.t.Fatal(err)
	}
	w.Handle("work", func(context.Context, *shim.Job) error { return nil })
	w.Handle("fail", func(context.Context, *shim.Job) error { return errors.New("no luck") })
	ctx, client := s.t.Context(), w.Client()
	opts := &shim.AddOptions{RunIn: time.Microsecond, JobKey: "one"}
	added, err := client.Add(ctx, "fail", nil, opts)
	if err != nil {
		s.t.Fatal(err)
	}
	_, errMany := client.AddMany(ctx, []shim.JobSpec{{Task: "work", AddOptions: shim.AddOptions{RunIn: time.Microsecond,
		QueueName: "q"}}, {Task: "work"}})
	errRun := w.RunOnce(ctx)
	_, errGet := client.Job(ctx, added.ID)
	_, errReschedule := client.Reschedule(ctx, shim.RescheduleOptions{RunIn: new(time.Hour)}, added.ID)
	if err := errors.Join(errMany, errRun, errGet, errReschedule); err != nil {
		s.t.Error(err)
	}
	if n := pgtest.Value[int](s.t, s.admin, "select pg_catalog.count(*)::integer from graphile_worker.jobs"); n != 2 {
		s.t.Errorf("%d jobs are left", n)
	}
}
