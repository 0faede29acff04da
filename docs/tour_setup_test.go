package docs_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

const (
	tourDatabase = "gw_tour" // and the name of the folder
	tourPort     = "8765"
)

// tour is a reader who follows tour.md word for word, but for the names of the database and the port.
type tour struct {
	t         *testing.T
	names     *strings.Replacer
	home      string // where the folder is made
	folder    string
	env       []string
	terminals map[string]*terminal // by their prompts
}

func newTour(t *testing.T) *tour {
	t.Helper()
	server, err := pgx.ParseConfig(pgtest.EmptyDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	name := server.Database + "_tour"
	home, programs := t.TempDir(), t.TempDir()
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "DATABASE_URL=")
	})
	env = append(env, "GOBIN="+programs, "PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"PGHOST="+server.Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+server.User,
		"PGPASSWORD="+server.Password)
	t.Cleanup(func() { dropWhatIsLeft(t, env, server.Database, name) })
	return &tour{
		t:         t,
		names:     strings.NewReplacer(tourDatabase, name, tourPort, freePort(t)),
		home:      home,
		folder:    filepath.Join(home, name),
		env:       env,
		terminals: make(map[string]*terminal),
	}
}

// dropWhatIsLeft drops a database that is there if the tour has come to no good end.
func dropWhatIsLeft(t *testing.T, env []string, neighbour, name string) {
	psql := exec.Command("psql", "--no-psqlrc", "--quiet", "--dbname", neighbour,
		"--command", "select pg_terminate_backend(pid) from pg_stat_activity where datname = '"+name+"'",
		"--command", "set client_min_messages to warning",
		"--command", "drop database if exists "+name)
	psql.Env = env
	if output, err := psql.CombinedOutput(); err != nil {
		t.Errorf("drop the database of the tour: %v\n%s", err, output)
	}
}

// freePort returns a port that is not in use.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// terminal returns the terminal with a prompt. The clone is a terminal of its own.
func (r *tour) terminal(prompt string) *terminal {
	r.t.Helper()
	if r.terminals[prompt] == nil {
		dir := r.folder
		switch prompt {
		case "":
			dir = r.home
		case "clone":
			dir = root
		}
		r.terminals[prompt] = newTerminal(r.t, dir, r.env)
	}
	return r.terminals[prompt]
}
