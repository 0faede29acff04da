//go:build !linux

package server

import "context"

// OnOneCore does nothing here.
func (s *Server) OnOneCore(context.Context) (release func() error, err error) {
	return func() error { return nil }, nil
}

// OnOtherCore does nothing here.
func OnOtherCore(int) error { return nil }
