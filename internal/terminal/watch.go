package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Watch calls draw repeatedly until the context ends, on a terminal always in the same place. An error of the first
// call is returned. Errors of later calls are printed, because a lost database may come back.
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

// Terminal codes: move to the upper left corner, clear to the end of the line, clear everything below.
const (
	home       = "\x1b[H"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// show prints a page. On a terminal it overwrites each line, because clearing the terminal first would flicker.
func show(out io.Writer, page []byte, onTerminal bool) error {
	if onTerminal {
		width, height := size(out)
		text := strings.ReplaceAll(fit(string(page), width, height), "\n", clearLine+"\n")
		page = []byte(home + text + clearBelow)
	}
	_, err := out.Write(page)
	return err
}

// fit cuts a page to the size of the terminal, because lines that scroll away could not be overwritten.
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
