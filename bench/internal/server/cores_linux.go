package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OnOneCore makes new sessions run on the first core until release is called. With one core it does nothing.
func (s *Server) OnOneCore(ctx context.Context) (release func() error, err error) {
	if runtime.NumCPU() < 2 {
		return func() error { return nil }, nil
	}
	pid, err := s.postmaster(ctx)
	if err != nil {
		return nil, err
	}
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &before); err != nil {
		return nil, fmt.Errorf("ask for the server's cores: %w", err)
	}
	if err := onCore(pid, 0); err != nil {
		return nil, err
	}
	return func() error { return unix.SchedSetaffinity(pid, &before) }, nil
}

// OnOtherCore moves a process to a core without sessions of OnOneCore.
func OnOtherCore(pid int) error {
	if runtime.NumCPU() < 2 {
		return nil
	}
	return onCore(pid, 1)
}

func onCore(pid, core int) error {
	var one unix.CPUSet
	one.Set(core)
	if err := unix.SchedSetaffinity(pid, &one); err != nil {
		return fmt.Errorf("put process %d on core %d: %w", pid, core, err)
	}
	return nil
}

// postmaster returns the process that starts a process for each session.
func (s *Server) postmaster(ctx context.Context) (pid int, err error) {
	var dir string
	if err := s.Admin.QueryRow(ctx, "select current_setting('data_directory')").Scan(&dir); err != nil {
		return 0, fmt.Errorf("ask for the data directory: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}
