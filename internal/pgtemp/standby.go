package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
)

// Standby creates a hot standby of this server, which it restarts, and returns when both accept connections. follow, if
// not empty, is the primary_conninfo of the standby; by default it is the address of this server.
func (s *Server) Standby(ctx context.Context, follow string) (*Server, error) {
	if err := s.Halt(false); err != nil {
		return nil, err
	}
	standby, err := s.cluster.copy(ctx)
	if err != nil {
		return nil, fmt.Errorf("make a standby: %w", err)
	}
	if err := s.Resume(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("resume the primary: %w", err), standby.stop())
	}
	if follow == "" {
		follow = fmt.Sprintf("host=%s port=5432 user=postgres", s.cluster.dir)
	}
	standby.settings["primary_conninfo"] = follow
	return standby.serve(ctx)
}

// copy returns a cluster with the data of c, which is halted, set up as a standby.
func (c *cluster) copy(ctx context.Context) (*cluster, error) {
	other, err := newCluster(filepath.Dir(c.dir))
	if err != nil {
		return nil, err
	}
	other.binDir, other.settings = c.binDir, maps.Clone(c.settings)
	if other.settings == nil {
		other.settings = make(map[string]string)
	}
	cmd := exec.CommandContext(ctx, "cp", "-R", "-p", c.data(), other.data()) // -p: its owner too
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the data: %w\n%s", err, tail(out)), other.stop())
	}
	signal := filepath.Join(other.data(), "standby.signal")
	err = os.WriteFile(signal, nil, 0o600)
	if err == nil && other.owner != nil {
		err = os.Chown(signal, other.owner.uid, other.owner.gid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("configure the copy as a standby: %w", err), other.stop())
	}
	return other, nil
}
