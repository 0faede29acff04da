package migrate_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

// An extensionServer is a server of the tests' version, to whose extensions files can be added. The role app may create
// databases and is not a superuser.
type extensionServer struct {
	url     string // of the database postgres, for the superuser
	major   int
	scripts string // the folder of its extensions
	bin     string // the folders of the server of which it is a copy
	share   string
}

// newExtensionServer runs a copy of the tests' server: PostgreSQL looks for its files beside its own program, so a copy
// of that with links to the rest has a folder of extensions that a test may write to.
func newExtensionServer(t *testing.T) *extensionServer {
	t.Helper()
	original := connect(t, os.Getenv("GW_TEST_DATABASE_URL"))
	folders := make(map[string]string)
	for _, name := range []string{"BINDIR", "LIBDIR", "PKGLIBDIR", "SHAREDIR"} {
		folders[name] = texts(t, original, "select setting from pg_config where name = $1", name)[0]
	}
	if _, err := os.Stat(filepath.Join(folders["BINDIR"], "initdb")); err != nil {
		t.Skip("the server's files are on another machine, where no extension can be put")
	}
	root, err := os.MkdirTemp("", "gw-extension-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(root, 0o755); err != nil { // for the user of the server
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		copyProgram(t, root, filepath.Join(folders["BINDIR"], name))
	}
	link(t, root, folders["LIBDIR"])
	link(t, root, folders["PKGLIBDIR"])
	scripts := filepath.Join(folders["SHAREDIR"], "extension")
	linkAllIn(t, root, folders["SHAREDIR"], scripts)
	linkAllIn(t, root, scripts, "")

	t.Setenv("GW_TEST_BIN_DIR", root+folders["BINDIR"])
	server := pgtest.Server(t, nil)
	admin := connect(t, server.URL("postgres"))
	execute(t, admin, "create role app login createdb password 'secret'")
	major, err := strconv.Atoi(texts(t, admin, "select (current_setting('server_version_num')::int / 10000)::text")[0])
	if err != nil {
		t.Fatal(err)
	}
	return &extensionServer{url: server.URL("postgres"), major: major, scripts: root + scripts, bin: folders["BINDIR"],
		share: folders["SHAREDIR"]}
}

func copyProgram(t *testing.T, root, path string) {
	t.Helper()
	program, err := os.ReadFile(path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(root+path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(root+path, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// link makes a link below root to a file or folder, unless a link of a folder above leads there already.
func link(t *testing.T, root, path string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(root+path), 0o755)
	if err == nil {
		err = os.Symlink(path, root+path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

func linkAllIn(t *testing.T, root, folder, except string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if path := filepath.Join(folder, entry.Name()); path != except {
			link(t, root, path)
		}
	}
}

// install puts the files of the extension where the server finds them.
func (s *extensionServer) install(t *testing.T, schema string) { s.installFrom(t, schema, sql.FS) }

func (s *extensionServer) installFrom(t *testing.T, schema string, source fs.FS) {
	t.Helper()
	files, err := migrate.ExtensionFrom(migrate.ExtensionConfig{Schema: schema}, source)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(s.scripts, file.Name), []byte(file.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// database makes a database that belongs to app, and returns its URL for that role.
func (s *extensionServer) database(t *testing.T, name string) string {
	t.Helper()
	execute(t, connect(t, s.url), "create database "+name+" owner app template template0")
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return as(t, u.String(), "app", "")
}

// hasDump reports whether this machine's pg_dump can dump the server: it must not be older.
func (s *extensionServer) hasDump(t *testing.T) bool {
	t.Helper()
	version, err := exec.Command("pg_dump", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, err := strconv.Atoi(string(regexp.MustCompile(`\d+`).Find(version)))
	if err != nil {
		t.Fatalf("pg_dump --version: %s: %v", version, err)
	}
	return major >= s.major
}

// copyDatabase dumps a database and restores it into another one.
func (s *extensionServer) copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	dump := filepath.Join(t.TempDir(), "dump")
	for _, args := range [][]string{
		{"pg_dump", "--format=custom", "--file=" + dump, "--dbname=" + from},
		{"pg_restore", "--exit-on-error", "--dbname=" + to, dump},
	} {
		if output, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
		}
	}
}

// rows returns every row of a table, as text.
func rows(t *testing.T, conn *pgx.Conn, table string) []string {
	t.Helper()
	return texts(t, conn, "select r::text from graphile_worker."+table+" as r order by 1")
}
