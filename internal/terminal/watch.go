package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Watch draws again and again until the context ends: on a terminal in the same place, else one after the other. An error
// of the first drawing is returned, a later one is shown in its place, for a database that is gone may come back.
func Watch(ctx context.Context, out io.Writer, every time.Duration, draw func(out io.Writer) error) error {
	var page bytes.Buffer
	if err := draw(&page); err != nil {
		return err
	}
	onTerminal := Is(out)
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if err := show(out, page.Bytes(), onTerminal); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
		page.Reset()
		if err := draw(&page); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			fmt.Fprintln(&page, err)
		}
	}
}

// The codes of a terminal: to the upper left corner, clear to the end of the line, clear what is below.
const (
	home       = "\x1b[H"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// show prints a page. Each line is overwritten rather than wiped first, which would flicker.
func show(out io.Writer, page []byte, onTerminal bool) error {
	if onTerminal {
		width, height := size(out)
		text := strings.ReplaceAll(fit(string(page), width, height), "\n", clearLine+"\n")
		page = []byte(home + text + clearBelow)
	}
	_, err := out.Write(page)
	return err
}

// fit cuts a page to what a terminal shows at once: what scrolls away could not be overwritten.
func fit(page string, width, height int) string {
	if width < 1 || height < 2 {
		return page
	}
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if most := height - 1; len(lines) > most { // the cursor stands on the last line
		lines = append(lines[:most-1], "…")
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = string(runes[:width-1]) + "…"
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
