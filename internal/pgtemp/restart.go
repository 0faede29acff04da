package pgtemp

import (
	"context"
	"errors"
	"syscall"
)

var errNoCluster = errors.New("the server does not run from local binaries")

// Halt stops the server like `pg_ctl stop`, in mode fast, or in mode immediate, after which the next start recovers as
// after a crash. The data is kept, with every committed transaction if synchronous_commit is on. Only a server from
// local binaries can be halted.
func (s *Server) Halt(immediate bool) error {
	if s.cluster == nil {
		return errNoCluster
	}
	if immediate {
		s.cluster.end(syscall.SIGQUIT)
	} else {
		s.cluster.end(syscall.SIGINT)
	}
	return nil
}

// Resume starts a server that was halted, at the same address, and returns when it accepts connections.
func (s *Server) Resume(ctx context.Context) error {
	if s.cluster == nil {
		return errNoCluster
	}
	if err := s.cluster.launch(); err != nil {
		return err
	}
	return WaitReady(ctx, s.URL("postgres"), s.cluster.exited)
}
