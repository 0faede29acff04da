package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

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
