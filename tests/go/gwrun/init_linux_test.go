package gwrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// startAsInit starts a gw-run as the process 1, as the entry point of a container is. The signals of the test reach it.
func startAsInit(t *testing.T, databaseURL, tasks string, args ...string) *process {
	t.Helper()
	p := prepare(t, nil, append([]string{"-c", databaseURL, "--tasks", tasks, "--log-format", "json"}, args...)...)
	command := p.cmd.Args
	p.cmd.Path = "/bin/sh"
	p.cmd.Args = append([]string{"sh", "-c", `mount -t proc proc /proc && exec "$0" "$@"`}, command...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		p.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		p.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		p.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	probe := exec.Command("/bin/sh", "-c", "mount -t proc proc /proc")
	probe.SysProcAttr = p.cmd.SysProcAttr
	if err := probe.Run(); err != nil {
		t.Skipf("this system does not let the test make a process 1: %v", err)
	}
	p.start()
	return p
}

// childrenOf returns the children of a process, each with its state before its name.
func childrenOf(t *testing.T, parent int) (children []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		var state string
		var ppid int
		if _, err := fmt.Sscan(string(text[end+1:]), &state, &ppid); err == nil && ppid == parent {
			children = append(children, state+" "+string(text[begin:end+1]))
		}
	}
	return children
}

func TestAsTheProcess1TheWorkerReapsWhatItsTasksLeaveBehind(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	p := startAsInit(t, databaseURL, tasks(t, map[string]string{
		"orphan": `for n in 1 2 3 4 5; do sleep 0.05 <&- >&- 2>&- & done`,
		"fail":   `exit 3`,
	}), "--jobs", "4")
	pgtest.Exec(t, pool, `select graphile_worker.add_job('orphan') from generate_series(1, 40)`)
	fail := addJob(t, pool, "fail", "{}")
	pgtest.Await(t, pool, `select not exists (select from graphile_worker.jobs where task_identifier = 'orphan')`)
	pgtest.Await(t, pool, `select last_error = 'exit code 3' from graphile_worker.jobs where id = $1`,
		fail) // tasks keep their exit codes
	var left []string
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if left = childrenOf(t, p.cmd.Process.Pid); len(left) == 1 {
			break
		}
	}
	if len(left) != 1 || !strings.Contains(left[0], "gw-run") {
		t.Errorf("the process 1 has %d children: %.300q", len(left), left)
	}
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestAsTheProcess1TheWorkerStopsAsAnyOther(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	for name, c := range map[string]struct {
		signals []syscall.Signal
		grace   string
		code    int
	}{
		"the grace time is over": {[]syscall.Signal{syscall.SIGTERM}, "100ms", 128 + int(syscall.SIGTERM)},
		"a second signal":        {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, "1h", 128 + int(syscall.SIGINT)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databaseURL := pgtest.Database(t)
			pool := pgtest.Pool(t, databaseURL)
			p := startAsInit(t, databaseURL, tasks(t, map[string]string{"a": `echo started; exec sleep 1000`}),
				"--grace", c.grace)
			id := addJob(t, pool, "a", "{}")
			p.waitLog("started")
			for _, signal := range c.signals {
				p.signal(signal)
				p.waitLog("worker is stopping")
			}
			p.wantExit(c.code)
			wantJob(t, pool, id, 0)
		})
	}
}

func TestTheFolderForTheResultOfAKilledWorkerIsRemovedByTheNext(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	databaseURL, folder := pgtest.Database(t), t.TempDir()
	pool := pgtest.Pool(t, databaseURL)
	env := map[string]string{"TMPDIR": folder}
	args := []string{"-c", databaseURL, "--tasks", tasks(t, map[string]string{"a": `echo started; exec sleep 1000`}),
		"--log-format", "json"}
	p := start(t, env, args...)
	addJob(t, pool, "a", "{}")
	p.waitLog("started")
	p.signal(syscall.SIGKILL)
	<-p.ended
	wantFolders := func(n int) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(folder, "gw-result-*"))
		if len(found) != n {
			t.Errorf("there are %d folders: %v", len(found), errors.Join(err))
		}
	}
	wantFolders(1)
	next := start(t, env, args...)
	next.waitLog("worker started")
	wantFolders(0)
}
