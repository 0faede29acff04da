package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// unforwarded are the signals that concern a process itself: the end of its children, and its use of the terminal. Go sends itself SIGURG.
var unforwarded = []os.Signal{syscall.SIGCHLD, syscall.SIGURG, syscall.SIGTTIN, syscall.SIGTTOU}

// runAsInit runs this program in a child process if it is the process 1, such as the entry point of a container. It then does what
// an init does: it forwards signals to the child and waits for the orphans that the kernel gives it, the processes that tasks
// have left behind, which would otherwise stay as zombies. The program cannot do that itself, because to wait for any child would
// take the exit codes of the programs of its tasks. It returns false if this is not the process 1.
func runAsInit(args []string, stderr io.Writer) (code int, isInit bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	child, err := startInGroup(args)
	if err != nil {
		fmt.Fprintln(stderr, "gw-run: start as the process 1:", err)
		return cli.ExitFailure, true
	}
	go func() {
		for got := range signals {
			if number, ok := got.(syscall.Signal); ok && !slices.Contains(unforwarded, got) {
				_ = syscall.Kill(child, number) // fails only if it has ended
			}
		}
	}()
	return reapUntil(child), true
}

// startInGroup starts this program again, in a process group of its own that gets the keys of the terminal if there is one: without that
// it would get Ctrl-C twice, and the second signal ends the grace time.
func startInGroup(args []string) (pid int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	_, notATerminal := unix.IoctlGetTermios(0, unix.TCGETS)
	process, err := os.StartProcess(program, append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Foreground: notATerminal == nil},
	})
	if err != nil {
		return 0, err
	}
	pid = process.Pid // which Release forgets
	return pid, process.Release()
}

// reapUntil waits for any process until the child has ended, and returns its exit code as a shell does.
func reapUntil(child int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR) || err == nil && pid != child:
		case err != nil: // there is no child
			return cli.ExitFailure
		case status.Signaled():
			return cli.ExitSignal + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}
