package terminal

import (
	"os"

	"golang.org/x/term"
)

// Is reports whether a reader or writer is a terminal, or a wrapper of one with a method Unwrap.
func Is(stream any) bool {
	for {
		switch s := stream.(type) {
		case *os.File:
			return term.IsTerminal(int(s.Fd()))
		case interface{ Unwrap() any }:
			stream = s.Unwrap()
		default:
			return false
		}
	}
}
