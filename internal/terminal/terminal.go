package terminal

import (
	"os"

	"golang.org/x/term"
)

// Is reports whether a reader or writer is a terminal, or a wrapper of one with a method Unwrap.
func Is(stream any) bool {
	file := fileOf(stream)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// size returns the width of a terminal in characters and its height in lines; 0 if they are not known.
func size(stream any) (width, height int) {
	if file := fileOf(stream); file != nil {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}

// fileOf returns the file behind a reader or writer, nil if there is none.
func fileOf(stream any) *os.File {
	for {
		switch s := stream.(type) {
		case *os.File:
			return s
		case interface{ Unwrap() any }:
			stream = s.Unwrap()
		default:
			return nil
		}
	}
}
