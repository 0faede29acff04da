package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// packages are those whose tests run after pgTAP, in this order. A package may run several times, the quickest tests
// first; up to which effort it runs.
var packages = []struct {
	dir    string
	args   []string
	effort int
}{
	{"tests/go/engine", []string{"-test.run=NothingWaits|NotifiesWorkers|RawChanges"}, 1},
	{"tests/go", []string{"-test.run=ASweepDoesNotWait"}, 1},
	{"tests/go/engine", []string{"-test.run=TakeWhatTheModel", "-engine.seed=1", "-engine.worlds=4",
		"-engine.shrink=false"}, 1},
	{"tests/go/engine", []string{"-test.skip=Mistakes|TakeWhatTheModel|AtOnce|NothingWaits|NotifiesWorkers|RawChanges|" + costly}, 2},
	{"tests/go/engine", []string{"-test.run=AtOnce", "-engine.loadseed=1"}, 2},
	{"tests/go/limits", []string{"-test.skip=IsSeen|NoLane"}, 3},
	{"tests/go/engine", []string{"-test.run=" + costly, "-test.skip=Prepared"}, 3},
	{"tests/go", []string{"-test.skip=IsSeen|Faults|TellOf|OnTheirIndexes"}, 3},
}

// costly are tests of what claims cost, which take long, or a server of their own.
const costly = "Pages|EmptyTables|Prepared|Thousand|ManyIdle|Fast$|ManyThatMayNot"

// recorded keeps doctor from telling that a function was replaced.
const recorded = "\nselect graphile_worker._gw_record_installed()"

// most is how many pgTAP files run for each mutant at effort 1.
const most = 80

// patience is how much longer than without a mistake a test may take, which then hangs.
const patience = 30 * time.Second

// suite is the tests and the databases that they copy.
type suite struct {
	ctx      context.Context
	server   string // its URL
	effort   int
	prefix   string // of the names of our databases
	programs string // the folder of the tests' binaries
	number   atomic.Int64
	files    []*file
	callers  map[string]string // the bodies of all functions
	inlined  map[string]bool   // functions in SQL, which statistics may not count

	mu sync.Mutex // of kills
}

// file is a pgTAP file.
type file struct {
	path  string
	text  string
	took  time.Duration
	calls map[string]bool
	kills int
}

// names returns whether the file itself calls a function; statistics may not count that if it is inlined.
func (f *file) names(function string) bool { return strings.Contains(f.text, function+"(") }

func newSuite(ctx context.Context, effort int) (_ *suite, err error) {
	s := &suite{ctx: ctx, server: os.Getenv("GW_TEST_DATABASE_URL"), effort: effort,
		prefix: fmt.Sprintf("gw_mutants_%d", os.Getpid())}
	if s.server == "" {
		return nil, fmt.Errorf("GW_TEST_DATABASE_URL is empty: run this with go run ./tests/go/testserver")
	}
	if s.programs, err = os.MkdirTemp("", "mutants"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for _, dir := range packages {
		if err := s.command(ctx, nil, "go", "test", "-c", "-o", s.binary(dir.dir), "./"+dir.dir); err != nil {
			return nil, err
		}
	}
	base := s.prefix + "_base"
	if err := s.admin(ctx, "create database "+base+" template template0"); err != nil {
		return nil, err
	}
	if err := s.command(ctx, nil, "go", "run", "./cmd/gw-migrate", "--connection", s.url(base)); err != nil {
		return nil, err
	}
	if err := s.exec(ctx, base, "create table public.no_ends (like graphile_worker._gw_gate_ends including all)"); err != nil {
		return nil, err
	}
	if err := s.admin(ctx, fmt.Sprintf("create database %[1]s_pgtap template %[1]s", base)); err != nil {
		return nil, err
	}
	if err := s.exec(ctx, base+"_pgtap", "create extension pgtap; create publication gw_test_all for all tables"); err != nil {
		return nil, err
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	for _, p := range packages {
		if p.effort > s.effort {
			continue
		}
		if problem := s.gotest(ctx, base, p.dir, p.args); problem != "" {
			return nil, fmt.Errorf("%s fails without a mistake", problem)
		}
	}
	return s, nil
}

func (s *suite) binary(dir string) string {
	return filepath.Join(s.programs, strings.ReplaceAll(dir, "/", "_")+".test")
}

// measure runs the pgTAP files without a mistake, and notes which functions each calls.
func (s *suite) measure() error {
	conn, err := pgx.Connect(s.ctx, s.url(s.prefix+"_base_pgtap"))
	if err != nil {
		return err
	}
	s.callers, s.inlined = map[string]string{}, map[string]bool{}
	rows, err := conn.Query(s.ctx, `
		select p.proname, p.prosrc, l.lanname = 'sql'
		  from pg_proc as p
		  join pg_language as l on l.oid = p.prolang
		 where p.pronamespace = 'graphile_worker'::regnamespace`)
	var name, body string
	var inlined bool
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&name, &body, &inlined}, func() error {
			s.callers[name] += body
			s.inlined[name] = s.inlined[name] || inlined
			return nil
		})
	}
	if err := closed(s.ctx, conn, err); err != nil {
		return err
	}
	err = filepath.WalkDir("tests/sql", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sql" {
			return err
		}
		text, err := os.ReadFile(path)
		s.files = append(s.files, &file{path: path, text: string(text)})
		return err
	})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, 2)
	begin := time.Now()
	for half := range errs {
		group.Go(func() { errs[half] = s.measureHalf(half) })
	}
	group.Wait()
	fmt.Printf("%d pgTAP files take %.0f s\n", len(s.files), time.Since(begin).Seconds())
	return cmp.Or(errs...)
}

func (s *suite) measureHalf(half int) error {
	database, err := s.copy(s.ctx, "_base_pgtap")
	if err != nil {
		return err
	}
	defer s.drop(database)
	conn, err := pgx.Connect(s.ctx, s.url(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(s.ctx) }()
	for n, f := range s.files {
		if n%2 != half {
			continue
		}
		if _, err := conn.Exec(s.ctx, "select pg_stat_reset()"); err != nil {
			return err
		}
		begin := time.Now()
		if problem := s.pgtap(s.ctx, database, f, "-c track_functions=all"); problem != "" {
			return fmt.Errorf("%s fails without a mistake: %s", f.path, problem)
		}
		f.took = time.Since(begin)
		// A session counts its calls when it ends, which psql does not wait for.
		for there := true; there; {
			if err := conn.QueryRow(s.ctx, "select exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())").Scan(&there); err != nil {
				return err
			}
		}
		f.calls = map[string]bool{}
		rows, err := conn.Query(s.ctx, "select funcname from pg_stat_user_functions where schemaname = 'graphile_worker' and calls > 0")
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, name := range names {
			f.calls[name] = true
		}
	}
	return nil
}

// of returns the files that call a function, those that find most first.
func (s *suite) of(function string) (some []*file) {
	names := map[string]bool{function: true}
	for again := s.inlined[function]; again; {
		again = false
		for caller, body := range s.callers {
			for name := range names {
				if (name == function || s.inlined[name]) && !names[caller] &&
					regexp.MustCompile(`\b`+name+`\b`).MatchString(body) {
					names[caller], again = true, true
					break
				}
			}
		}
	}
	for _, f := range s.files {
		if f.names(function) {
			some = append(some, f)
			continue
		}
		for name := range f.calls {
			if names[name] {
				some = append(some, f)
				break
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	score := func(f *file) float64 {
		score := (0.3 + float64(f.kills)) / (0.1 + f.took.Seconds())
		if strings.Contains(function, filepath.Base(filepath.Dir(f.path))) {
			score *= 3
		}
		if f.names(function) {
			score *= 10
		}
		return score / float64(20+len(f.calls))
	}
	slices.SortFunc(some, func(a, b *file) int { return cmp.Compare(score(b), score(a)) })
	return some
}

// test returns which test finds a mutant, or nothing.
func (s *suite) test(ctx context.Context, m *mutant) (by string, err error) {
	database, err := s.copy(ctx, "_base_pgtap")
	if err != nil {
		return "", err
	}
	defer s.drop(database)
	if err := s.exec(ctx, database, m.sql+recorded); err != nil {
		return "its definition", nil //nolint:nilerr // that is what was to be found
	}
	const timeout = "-c statement_timeout=10s"
	for n, f := range s.of(m.function) {
		if n == most && s.effort < 2 {
			break
		}
		problem := s.pgtap(ctx, database, f, timeout)
		if problem != "" { // of a busy machine, unless it comes again
			problem = s.pgtap(ctx, database, f, timeout)
		}
		if problem != "" {
			s.mu.Lock()
			f.kills++
			s.mu.Unlock()
			return f.path + ": " + problem, ctx.Err()
		}
	}
	template, err := s.copy(ctx, "_base")
	if err != nil {
		return "", err
	}
	defer s.drop(template)
	if err := s.exec(ctx, template, m.sql+recorded); err != nil {
		return "", err
	}
	for _, p := range packages {
		if p.effort > s.effort {
			continue
		}
		if s.gotest(ctx, template, p.dir, p.args) == "" {
			continue
		}
		if problem := s.gotest(ctx, template, p.dir, p.args); problem != "" {
			return problem, ctx.Err()
		}
	}
	return "", ctx.Err()
}

var (
	notOK    = regexp.MustCompile(`(?m)^\s*not ok [^#]*(#[^\n]*)?|^# Looks like[^\n]*|(?:ERROR|FATAL):[^\n]*`)
	failedGo = regexp.MustCompile(`--- FAIL: (\S+)`)
)

// pgtap runs a pgTAP file, and returns what fails.
func (s *suite) pgtap(ctx context.Context, database string, f *file, options string) string {
	ctx, cancel := context.WithTimeout(ctx, patience+3*f.took)
	defer cancel()
	cmd := exec.CommandContext(ctx, "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set",
		"ON_ERROR_STOP=1",
		"--command", "vacuum graphile_worker._private_jobs", "--file", f.path, s.url(database))
	cmd.Env = append(os.Environ(), "PGOPTIONS="+options)
	output, err := cmd.CombinedOutput()
	for _, found := range notOK.FindAllString(string(output), -1) {
		if !strings.Contains(found, "# TODO") {
			return strings.TrimSpace(found)
		}
	}
	if err != nil {
		return err.Error() + " " + string(output)
	}
	return ""
}

// gotest runs the tests of a package on databases like the template, and returns which one fails.
func (s *suite) gotest(ctx context.Context, template, dir string, args []string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary(dir), append([]string{"-test.failfast"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GW_TEST_TEMPLATE="+template)
	output, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	found := "hangs or ends early"
	if test := failedGo.FindAllSubmatch(output, -1); test != nil {
		found = string(test[len(test)-1][1])
	}
	return dir + ": " + found
}

// copy returns the name of a copy of one of our databases.
func (s *suite) copy(ctx context.Context, of string) (string, error) {
	name := fmt.Sprintf("%s_%d", s.prefix, s.number.Add(1))
	return name, s.admin(ctx, fmt.Sprintf("create database %s template %s%s", name, s.prefix, of))
}

func (s *suite) drop(name string) {
	ctx := context.WithoutCancel(s.ctx)
	_ = s.admin(ctx, fmt.Sprintf("alter database %s allow_connections false", name))
	_ = s.admin(ctx, fmt.Sprintf("select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s'", name))
	if err := s.admin(ctx, "drop database "+name); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (s *suite) close() {
	for _, name := range []string{"_base_pgtap", "_base"} {
		s.drop(s.prefix + name)
	}
	_ = os.RemoveAll(s.programs)
}

func (s *suite) url(database string) string {
	parsed, err := url.Parse(s.server)
	if err != nil {
		return s.server
	}
	parsed.Path = "/" + database
	return parsed.String()
}

func (s *suite) admin(ctx context.Context, sql string) error { return execute(ctx, s.server, sql) }

func (s *suite) exec(ctx context.Context, database, sql string) error {
	return execute(ctx, s.url(database), sql)
}

func execute(ctx context.Context, server, sql string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return closed(ctx, conn, err)
}

func closed(ctx context.Context, conn *pgx.Conn, err error) error {
	return cmp.Or(err, conn.Close(ctx))
}

func (s *suite) command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(output))
	}
	return nil
}
