package nodegw

import (
	"bytes"
	"sync"
)

// transcript keeps the output of a program.
type transcript struct {
	mu      sync.Mutex
	content bytes.Buffer
	changed chan struct{} // holds a token after a write
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content.Write(p)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content.String()
}
