package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gwsql/gw/bench/internal/process"
)

// CPU returns the processor time of the server's processes so far, those that have ended included.
func (s *Server) CPU(ctx context.Context) (total time.Duration, err error) {
	postmaster, err := s.postmaster(ctx)
	if err != nil {
		return 0, err
	}
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, fmt.Errorf("list the processes: %w", err)
	}
	for _, name := range found {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		switch stat, err := process.Read(pid); {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH):
			continue // the process has ended
		case err != nil:
			return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
		case pid == postmaster:
			total += stat.Own + stat.Ended
		case stat.Parent == postmaster:
			total += stat.Own
		}
	}
	return total, nil
}
