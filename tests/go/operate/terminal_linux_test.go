package operate

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gwsql/gw/internal/pgtest"
)

// patience is the maximum time that a test waits for a condition. It is long because it only matters when a test fails.
const patience = 5 * time.Minute

// session is a gw-run on a terminal.
type session struct {
	t       *testing.T
	cmd     *exec.Cmd
	screen  *os.File // the user's side of the terminal
	seen    bytes.Buffer
	printed chan []byte
}

// sit starts gw-run on a terminal of its own.
func (b bench) sit(args ...string) *session {
	b.t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = screen.Close() })
	control, err := screen.SyscallConn()
	if err != nil {
		b.t.Fatal(err)
	}
	var number int
	if err := control.Control(func(fd uintptr) {
		err = errors.Join(unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}))
		if err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer tty.Close()

	s := &session{t: b.t, cmd: b.command(args...), screen: screen, printed: make(chan []byte)}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		defer close(s.printed)
		for {
			text := make([]byte, 4096)
			n, err := screen.Read(text)
			if err != nil {
				return // all processes have closed the terminal
			}
			s.printed <- text[:n]
		}
	}()
	return s
}

// see waits for a text in the output after the last text that was seen.
func (s *session) see(text string) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		if _, after, found := bytes.Cut(s.seen.Bytes(), []byte(text)); found {
			after = bytes.Clone(after)
			s.seen.Reset()
			s.seen.Write(after)
			return
		}
		select {
		case more, ok := <-s.printed:
			if !ok {
				s.t.Fatalf("gw-run has ended without %q, after %q", text, s.seen.String())
			}
			s.seen.Write(more)
		case <-deadline:
			s.t.Fatalf("gw-run does not print %q, after %q", text, s.seen.String())
		}
	}
}

func (s *session) enter(text string) {
	s.t.Helper()
	if _, err := s.screen.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// wantExit waits for the end of gw-run and returns the output after the last text that was seen.
func (s *session) wantExit(code int) (rest string) {
	s.t.Helper()
	for more := range s.printed {
		s.seen.Write(more)
	}
	_ = s.cmd.Wait() // the exit code is checked below
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d, after %q", got, code, s.seen.String())
	}
	return s.seen.String()
}

func TestManyJobsAreAskedAboutWithTheirNumber(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_jobs(array(select row('t', null, null, null, null, null, null, null)::.job_spec from generate_series(1, 1200)))`)
	s := b.sit("fail", "--task", "t")
	s.see("Fail 1200 jobs? [y/N] ")
	s.enter("n\n")
	s.see("nothing was changed")
	s.wantExit(1)
	if !b.is("select count(*) = 0 from .list_jobs('failed')") {
		t.Error("jobs were changed nevertheless")
	}

	s = b.sit("fail", "--task", "t")
	s.see("Fail 1200 jobs? [y/N] ")
	// Jobs that are gone or no longer match are skipped, and so are jobs that match only now.
	b.exec(`select .complete_jobs('{7}')`, `select .add_job('t')`, `select .add_job('u')`,
		`update ._private_jobs set task_id = (select id from ._private_tasks where identifier = 'u') where id = 8`)
	s.enter("yes\n")
	s.see("1000/1200")
	s.see("Failed 1198 jobs.")
	s.wantExit(0)
	if got := b.value("select string_agg(id::text, ' ' order by id) from .list_jobs('ready')"); got != "8 1201 1202" {
		t.Errorf("jobs that have not failed: %s", got)
	}
}

func TestAListThatIsWatchedIsDrawnInItsPlace(t *testing.T) {
	b := newBench(t)
	s := b.sit("jobs", "--watch=100ms")
	s.see("\x1b[H")
	s.see("LAST ERROR\x1b[K")
	s.see("\x1b[J")
	b.exec(`select .add_job('fresh')`)
	s.see("\x1b[H")
	s.see("fresh")
	b.exec(`select .add_job(repeat('long', 30)) from generate_series(1, 50)`)
	s.see("longlong…\x1b[K\r\n") // what does not fit into 120 columns and 24 lines is cut
	s.see("21  ready")
	s.see("\r\n…\x1b[K\r\n\x1b[J")
	s.enter("\x03") // Ctrl-C
	s.wantExit(0)
}

func TestAListThatIsWatchedIsPrintedAgainWhereThereIsNoTerminal(t *testing.T) {
	b := newBench(t)
	cmd := b.command("tasks", "--json", "--watch=100ms")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.exec(`select .add_job('first')`)
	await := func(text string) {
		t.Helper()
		seen := make([]byte, 1)
		var all strings.Builder
		for !strings.HasSuffix(all.String(), text) {
			if _, err := out.Read(seen); err != nil {
				t.Fatalf("%v after %s", err, all.String())
			}
			all.Write(seen)
			if seen[0] == '\n' {
				all.Reset()
			}
		}
	}
	await(`{"task_identifier":"first"`)
	await(`{"task_identifier":"first"`)
	b.exec(`select .add_job('second')`)
	await(`{"task_identifier":"second"`)

	// The command reconnects when its session is lost.
	pgtest.Await(t, b.pool, `select count(*) filter (where pg_terminate_backend(pid)) > 0 from pg_stat_activity
	                          where application_name = 'gw-run' and datname = current_database()`)
	b.exec(`select .add_job('third')`)
	await(`{"task_identifier":"third"`)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("watching ends with %v", err)
	}
}
