// Package neighbours attacks a queue with a role that may only connect and create objects in the schema public or in the database. Its
// functions record that another role has called them, which must never happen.
package neighbours

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// street is a database with two roles: the victim, who owns the queue, and mallory, the neighbour.
type street struct {
	t               *testing.T
	admin           *pgxpool.Pool
	url             string
	victim, mallory string // roles
}

// newStreet creates an empty database in which the neighbour may create objects in public and, with mayCreateSchemas, schemas. Its
// functions record calls by other roles in public.marks.
func newStreet(t *testing.T, mayCreateSchemas bool) *street {
	t.Helper()
	t.Parallel()
	url := pgtest.EmptyDatabase(t)
	s := &street{t: t, admin: pgtest.Pool(t, url), url: url}
	s.victim, s.mallory = pgtest.Role(t, s.admin), pgtest.Role(t, s.admin)
	database := pgx.Identifier{s.admin.Config().ConnConfig.Database}.Sanitize()
	s.as("", "grant create on database "+database+" to "+s.victim,
		"grant create, usage on schema public to public",
		"create table public.marks (caller text, what text)",
		"grant all on public.marks to public",
		"create sequence public.marked",
		"grant all on sequence public.marked to public",
		// A transaction may be rolled back; a sequence is not, but it cannot advance in a read-only transaction.
		`create function public.mark(what text) returns void language plpgsql set search_path = pg_catalog as $$
		 begin
		   if session_user !~ '^gw_test_' then -- the neighbour logs in, the others become who they are by role
		     if current_setting('transaction_read_only')::boolean then
		       raise exception 'the mark of the neighbour: %', what;
		     end if;
		     perform nextval('public.marked');
		     insert into public.marks values (current_user, what);
		   end if;
		 end $$`)
	if mayCreateSchemas {
		s.as("", "grant create on database "+database+" to "+s.mallory)
	}
	return s
}

// as runs statements as a role, or as the administrator if it is empty.
func (s *street) as(role string, statements ...string) {
	s.t.Helper()
	conn, err := s.admin.Acquire(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Release()
	if role != "" {
		statements = append([]string{"set session authorization " + role}, statements...)
	}
	statements = append(statements, "reset session authorization")
	for _, statement := range statements {
		if _, err := conn.Exec(s.t.Context(), statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// run runs one of our programs as the victim.
func (s *street) run(name string, args ...string) (output string, err error) {
	s.t.Helper()
	return s.runAs(s.victim, name, args...)
}

// runAs runs one of our programs as a role, or as the administrator if it is empty.
func (s *street) runAs(role, name string, args ...string) (output string, err error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), pgtest.Program(s.t, name), args...)
	cmd.Dir = s.t.TempDir()
	cmd.Env = append(os.Environ(), "DATABASE_URL="+s.url)
	if role != "" {
		cmd.Env = append(cmd.Env, "PGOPTIONS=-c role="+role)
	}
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// mustRun is run for a program that has to succeed.
func (s *street) mustRun(name string, args ...string) string {
	s.t.Helper()
	output, err := s.run(name, args...)
	if err != nil {
		s.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, output)
	}
	return output
}

// isUnharmed fails the test if a function of the neighbour ran as another role.
func (s *street) isUnharmed() {
	s.t.Helper()
	if pgtest.Value[bool](s.t, s.admin, "select m.is_called from public.marked as m") {
		s.t.Errorf("functions of the neighbour have run: %q", pgtest.Value[[]string](s.t, s.admin,
			"select coalesce(pg_catalog.array_agg(distinct m.what), '{}') from public.marks as m"))
	}
}

// isRefused runs one of our programs as the victim. It has to fail with this reason and must not run functions of the neighbour.
func (s *street) isRefused(reason, name string, args ...string) {
	s.t.Helper()
	s.isRefusedTo(s.victim, reason, name, args...)
}

// isRefusedTo is isRefused for another role, or for the administrator if it is empty.
func (s *street) isRefusedTo(role, reason, name string, args ...string) {
	s.t.Helper()
	output, err := s.runAs(role, name, args...)
	if err == nil || !strings.Contains(output, reason) || strings.Contains(output, "mark of the neighbour") {
		s.t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, output)
	}
	s.isUnharmed()
}
