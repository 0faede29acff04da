package hint

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// shortError is an error with a shorter text.
type shortError struct {
	text string
	error
}

func (e shortError) Error() string { return e.text }
func (e shortError) Unwrap() error { return e.error }

const (
	refusedTLS = ": tls error: server refused TLS connection"
	resolving  = "hostname resolving error: "
)

// shorten returns err with one line for each address if it contains a failed connection. By default pgx tries each
// address with TLS and then without, and its text has a line for each attempt.
func shorten(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	details, isUnknown := strings.CutPrefix(failed.Unwrap().Error(), resolving)
	lines := oncePerAddress(strings.Split(details, "\n"))
	if isUnknown {
		lines[0] = resolving + lines[0]
	}
	attempts := " " + lines[0]
	switch {
	case len(lines) > 1:
		attempts = "\n\t" + strings.Join(lines, "\n\t")
	case errors.Is(failed, syscall.ECONNREFUSED), errors.Is(failed, fs.ErrNotExist):
		attempts += "; no PostgreSQL server listens there"
	}
	subject, _, _ := strings.Cut(failed.Error(), "`:")
	return shortError{strings.Replace(err.Error(), failed.Error(), subject+"`:"+attempts, 1), err}
}

// oncePerAddress removes repeated lines, and those about TLS if the next line is about the same address.
func oncePerAddress(lines []string) (short []string) {
	for i, line := range lines {
		address, isTLS := strings.CutSuffix(line, refusedTLS)
		if isTLS && i+1 < len(lines) && strings.HasPrefix(lines[i+1], address+": ") || slices.Contains(short, line) {
			continue
		}
		short = append(short, line)
	}
	return short
}
