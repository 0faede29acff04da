package docs_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var waitForCron = flag.Bool("tour.minute", false, "on the tour, wait for the next minute to see what the crontab does")

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
		"PGHOST="+server.Host, fmt.Sprintf("PGPORT=%d", server.Port), "PGUSER="+server.User, "PGPASSWORD="+server.Password)
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

// freePort returns a port that nobody listens at.
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

const takesAMinute = "<!-- this takes a minute -->"

func TestTheTourGoesAsItSays(t *testing.T) {
	r := newTour(t)
	for _, block := range blocks(t, "tour.md") {
		for _, match := range meanwhile.FindAllStringSubmatch(block.before, -1) {
			r.terminal("").run(`psql --quiet --command "` + match[1] + `" "$DATABASE_URL"`)
		}
		switch {
		case block.language != "console":
			r.write(block)
		case *waitForCron || !strings.Contains(block.before, takesAMinute):
			r.follow(block)
		}
	}
	if _, err := os.Stat(r.folder); !os.IsNotExist(err) {
		t.Errorf("after the tour there is still its folder: %v", err)
	}
}

var fileName = regexp.MustCompile("the file `([^`]+)`")

// write writes a file that the text before a block names.
func (r *tour) write(b block) {
	r.t.Helper()
	names := fileName.FindAllStringSubmatch(b.before, -1)
	if names == nil {
		r.t.Fatalf("tour.md:%d: the text does not say which file this is", b.line)
	}
	path := filepath.Join(r.folder, names[len(names)-1][1])
	if err := os.WriteFile(path, []byte(r.names.Replace(b.code)), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

var (
	typed   = regexp.MustCompile(`^(\w*)\$ (.+)$`) // into a terminal
	printed = regexp.MustCompile(`^(\w+)\| (.+)$`) // in another terminal than the first
	looking = regexp.MustCompile(`^gw-run (jobs|stats)\b`)
)

// follow types the commands of a block, and looks whether what is shown appears.
func (r *tour) follow(b block) {
	r.t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.names.Replace(b.code), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if match := printed.FindStringSubmatch(lines[i]); match != nil {
			if match[2] == "^C" {
				r.terminal(match[1]).interrupt()
			} else {
				want := like(match[2])
				r.terminal(match[1]).see(match[2], func(line string) bool { return want.MatchString(settled(line)) })
			}
			continue
		}
		match := typed.FindStringSubmatch(lines[i])
		if match == nil {
			r.t.Fatalf("tour.md:%d: this belongs to no command", b.line+i)
		}
		if match[1] == "worker" || match[1] == "service" {
			r.terminal(match[1]).enter(match[2])
			continue
		}
		first := i + 1
		for i+1 < len(lines) && !typed.MatchString(lines[i+1]) && !printed.MatchString(lines[i+1]) {
			i++
		}
		r.command(b.line+first-1, match[1], match[2], strings.Join(append(lines[first:i+1:i+1], ""), "\n"))
	}
}

// command runs a command. One that only looks does so until it shows what it is to.
func (r *tour) command(line int, prompt, command, shown string) {
	r.t.Helper()
	want := like(shown)
	for deadline := time.Now().Add(patience); ; {
		output := r.terminal(prompt).run(command)
		if want.MatchString(settled(output)) {
			return
		}
		if !looking.MatchString(command) || time.Now().After(deadline) {
			r.t.Fatalf("tour.md:%d: %s prints\n%s, but shown is\n%s", line, command, output, shown)
		}
	}
}

var (
	id   = regexp.MustCompile(`(?m)^ *\d+ |\bJob \d+\b`)
	date = regexp.MustCompile(`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC`)
	rate = regexp.MustCompile(`\d+\.\d a second`)
)

// settled returns an output with the same ids and times each time.
func settled(output string) string {
	output = date.ReplaceAllString(output, "TIME")
	output = rate.ReplaceAllString(output, "RATE")
	return timeless(id.ReplaceAllString(output, "ID "))
}

// like returns what matches an output that is shown: in a line, ... stands for any text, and as a line for any lines.
func like(shown string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(settled(shown)) {
		if strings.TrimSpace(line) == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), regexp.QuoteMeta("..."), ".*"))
	}
	return regexp.MustCompile("^" + b.String() + "$")
}

func TestTheServiceOfTheTourRefusesWhatIsNotSigned(t *testing.T) {
	port := freePort(t)
	for _, block := range blocks(t, "tour.md") {
		if block.language == "python" {
			serve := newTerminal(t, t.TempDir(), append(os.Environ(), "RECEIPT_SECRET=top"))
			serve.enter("python3 -c '" + strings.ReplaceAll(block.code, tourPort, port) + "'")
			serve.see("ready", func(line string) bool { return line == "ready" })
		}
	}
	now := time.Now().Unix()
	for signature, want := range map[string]int{
		sign("top", now):      http.StatusNoContent,
		sign("other", now):    http.StatusUnauthorized,
		sign("top", now-3600): http.StatusUnauthorized,
		"":                    http.StatusUnauthorized,
		"t=,v1=":              http.StatusUnauthorized,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port, strings.NewReader(order))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Gw-Signature", signature)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("signed %q it answers %d, want %d", signature, answer.StatusCode, want)
		}
	}
}

const order = `{"order": 1}`

// sign returns the header Gw-Signature of an order.
func sign(secret string, at int64) string {
	code := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(code, "%d.%s", at, order)
	return fmt.Sprintf("t=%d,v1=%x", at, code.Sum(nil))
}
