//go:build ha

package ha

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// process is a running program. Its output is in a file, of which a failed test prints the end.
type process struct {
	cmd *exec.Cmd
	end chan struct{}
}

// start starts a program as the server's user. It is told to stop when the test has ended, also if the test crashes.
func start(t *testing.T, logPath string, as *syscall.Credential, env []string, name string, args ...string) *process {
	t.Helper()
	log, err := os.OpenFile(logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &process{cmd: exec.Command(name, args...), end: make(chan struct{})}
	p.cmd.Dir = filepath.Dir(logPath)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.end)
		_ = p.cmd.Wait() // the log has the reason
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-p.end
		if t.Failed() {
			t.Logf("%s:\n%s", logPath, tail(logPath))
		}
	})
	return p
}

func tail(path string) string {
	const most = 20000
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-most):])
}

// serverUser returns the user of the servers: nil for the current one; for root, with whom PostgreSQL does not run, postgres.
func serverUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("PostgreSQL does not run as root: %v", err)
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		t.Fatalf("user postgres has the ids %s and %s", found.Uid, found.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// own gives a folder to the user of the servers.
func own(t *testing.T, folder string, as *syscall.Credential) {
	t.Helper()
	if as == nil {
		return
	}
	if err := os.Chown(folder, int(as.Uid), int(as.Gid)); err != nil {
		t.Fatal(err)
	}
}

// tree returns a process and all that descend from it.
func tree(t *testing.T, root int) []int {
	t.Helper()
	children := make(map[int][]int)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, can contain spaces. After it follow the state and the parent.
		fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
		pid, pidErr := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, parentErr := strconv.Atoi(fields[1])
		if pidErr != nil || parentErr != nil {
			t.Fatalf("%s: %s", path, content)
		}
		children[parent] = append(children[parent], pid)
	}
	found := []int{root}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// signalAll signals processes in this order; one of them may have ended.
func signalAll(t *testing.T, signal syscall.Signal, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(fmt.Errorf("signal process %d: %w", pid, err))
		}
	}
}
