package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var waitForCron = flag.Bool("tour.minute", false, "on the tour, wait for the next minute to see what the crontab does")

const takesAMinute = "<!-- this takes a minute -->"

func TestTheTourGoesAsItSays(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	r := newTour(t)
	for _, block := range blocks(t, "tour.md") {
		for _, match := range meanwhile.FindAllStringSubmatch(block.before, -1) {
			r.command(block.line, "", `psql --quiet --command "`+match[1]+`" "$DATABASE_URL"`, "")
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
		if match[1] == "worker" || match[1] == "service" { // what is typed there runs until Ctrl-C
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
