// Package terminal prints to terminals: tables, relative times, lists that refresh, a question, a progress bar.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
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

// Ask asks a yes-or-no question and reports whether the answer is yes. Any other answer is no.
func Ask(in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", question); err != nil {
		return false, err
	}
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("read answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// Progress is a progress bar. Without a terminal it does nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress returns an empty bar on out.
func NewProgress(out io.Writer, total int) Progress {
	if !Is(out) {
		return Progress{}
	}
	return Progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("jobs"),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)}
}

// Add advances the bar by n.
func (p Progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a failure only affects the display
	}
}

// Clear removes the bar from the terminal.
func (p Progress) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
