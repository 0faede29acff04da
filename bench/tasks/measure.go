package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gwsql/gw/bench/internal/process"
	"github.com/gwsql/gw/bench/internal/queue"
)

// measured is the result of a run of gw-run.
type measured struct {
	perCPU float64 // jobs per second of processor time
	speed  float64 // jobs per second
}

// measure runs gw-run until it has run all jobs of a kind.
func (b *bench) measure(ctx context.Context, k kind) (m measured, err error) {
	db, err := b.fill(ctx, k)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Drop(ctx)) }()
	cmd, err := b.command(ctx, k, db.URL())
	if err != nil {
		return m, err
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return m, fmt.Errorf("start gw-run: %w", err)
	}
	cpu, cpuErr := awaitCPU(cmd.Process.Pid)
	took := time.Since(start)
	if err := errors.Join(cpuErr, cmd.Wait()); err != nil {
		return m, fmt.Errorf("gw-run: %w\n%s", err, log.Bytes())
	}
	var left int
	if err := db.Admin.QueryRow(ctx, "select count(*) from "+queue.JobsTable).Scan(&left); err != nil {
		return m, fmt.Errorf("count the jobs that are left: %w", err)
	}
	if left > 0 {
		return m, fmt.Errorf("%d jobs are left\n%s", left, log.Bytes())
	}
	jobs := float64(b.Scale(k.jobs))
	return measured{perCPU: jobs / cpu.Seconds(), speed: jobs / took.Seconds()}, nil
}

// command returns the command that runs the jobs of a kind.
func (b *bench) command(ctx context.Context, k kind, url string) (*exec.Cmd, error) {
	if k.config == nil {
		return exec.CommandContext(ctx, filepath.Join(b.programs, "noop"), url, strconv.Itoa(kindConcurrency)), nil
	}
	config := filepath.Join(b.programs, "gw.yaml")
	if err := os.WriteFile(config, []byte("tasks:\n  "+queue.Task+": "+k.config(b)+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write the config: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.programs, "gw-run"), "--once", "--quiet", "-c", url, "--config",
		config,
		"-j", strconv.Itoa(kindConcurrency))
	cmd.Dir = b.programs
	return cmd, nil
}

// awaitCPU waits for the end of a child and returns its own processor time. It reads the time before it waits for the
// child, because wait adds the time of the child's own children.
func awaitCPU(pid int) (time.Duration, error) {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("wait for the end: %w", err)
	}
	stat, err := process.Read(pid)
	if err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return stat.Own, nil
}
