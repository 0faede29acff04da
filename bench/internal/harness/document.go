package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// A part is a part of a report's file.
type part int

const (
	inHead part = iota
	inSummary
	inBody
	parts
)

// A document prints a report while it is written, and keeps it for a file. If it has a summary, the file has no body.
type document struct {
	stdout io.Writer
	file   *os.File // may be nil
	part   part     // the part that is being written
	closed bool     // whether there is a summary
	text   [parts]bytes.Buffer
}

func (d *document) Write(p []byte) (int, error) {
	d.text[d.part].Write(p)
	return d.stdout.Write(p)
}

// write writes the file and closes it.
func (d *document) write() error {
	var err error
	for i := range d.text {
		if err == nil && !(d.closed && part(i) == inBody) {
			_, err = d.file.Write(d.text[i].Bytes())
		}
	}
	if err = errors.Join(err, d.file.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
