package gwrun

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// patience is the maximum time that a test waits for a condition. It is long because it only matters when a test fails.
const patience = 5 * time.Minute

// process is a running gw-run.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout transcript
	stderr transcript
	ended  chan struct{}
}

// prepare returns a gw-run that has not been started.
func prepare(t *testing.T, env map[string]string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(pgtest.Program(t, "gw-run"), args...), ended: make(chan struct{})}
	p.stdout.changed = make(chan struct{}, 1)
	p.stderr.changed = make(chan struct{}, 1)
	p.cmd.Env = environment(env)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p
}

// start starts the process. It is killed after the test if it still runs then.
func (p *process) start() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // wantExit looks at the exit code
	}()
	p.t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		<-p.ended
		if p.t.Failed() {
			p.t.Logf("%s\n%s%s", p.cmd, p.stdout.String(), p.stderr.String())
		}
	})
}

// start starts a gw-run.
func start(t *testing.T, env map[string]string, args ...string) *process {
	t.Helper()
	p := prepare(t, env, args...)
	p.start()
	return p
}

// work starts gw-run on a database and a folder of tasks.
func work(t *testing.T, databaseURL, tasks string, args ...string) *process {
	t.Helper()
	return start(t, nil, append([]string{"-c", databaseURL, "--tasks", tasks, "--log-format", "json"}, args...)...)
}

// environment returns the test's environment without the variables that give a database, and with those in more.
func environment(more map[string]string) []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PG") || strings.HasPrefix(variable, "DATABASE_URL=")
	})
	for _, name := range slices.Sorted(maps.Keys(more)) {
		env = append(env, name+"="+more[name])
	}
	return env
}

// signal sends a signal if the process is still running.
func (p *process) signal(signal syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
}

// wantExit waits for the end of the process and checks its exit code.
func (p *process) wantExit(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("gw-run does not end")
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
}

// logLine is a line of gw-run's log.
type logLine struct {
	Level    string
	Msg      string
	Stream   string
	Task     string `json:"task_identifier"`
	JobID    int64  `json:"job_id"`
	WorkerID string `json:"worker_id"`
	Address  string
	Error    string
}

// waitLog waits for a log line whose message starts with prefix.
func (p *process) waitLog(prefix string) logLine {
	p.t.Helper()
	var found logLine
	p.stderr.wait(p.t, "a log line that starts with "+prefix, func(text string) bool {
		found = logLine{}
		return json.Unmarshal([]byte(text), &found) == nil && strings.HasPrefix(found.Msg, prefix)
	})
	return found
}

// transcript keeps the output of a process.
type transcript struct {
	mu      sync.Mutex
	content bytes.Buffer
	changed chan struct{} // holds a token after a write
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content.Write(p)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content.String()
}

// wait waits for a line for which wanted returns true.
func (s *transcript) wait(t *testing.T, what string, wanted func(line string) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		scanner := bufio.NewScanner(strings.NewReader(s.String()))
		for scanner.Scan() {
			if wanted(scanner.Text()) {
				return
			}
		}
		select {
		case <-s.changed:
		case <-deadline:
			t.Fatalf("no line is %s", what)
		}
	}
}
