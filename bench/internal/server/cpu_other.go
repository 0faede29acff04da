//go:build !linux

package server

import (
	"context"
	"errors"
	"time"
)

// CPU returns an error here.
func (s *Server) CPU(context.Context) (time.Duration, error) {
	return 0, errors.New("the processor time of the server is only measured on Linux")
}
