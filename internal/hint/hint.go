// Package hint suggests the right name for a misspelt one, and a remedy for an error.
package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Nearest returns the name that differs least from a word, "" if every name differs by more than most letters.
func Nearest(word string, names []string, most int) string {
	best, least := "", most+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the Levenshtein distance: how many letters must be inserted, deleted or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// For returns err, with a remedy if it contains an error of the database for which one is known, and with a shorter
// text if it contains a failed connection.
func For(err error) error {
	err = shorten(err)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case "3D000":
		return fmt.Errorf("%w; create it with: %s", err, createdb(refusal.Message))
	case "42704":
		if unknown := unknownSetting.FindStringSubmatch(refusal.Message); unknown != nil &&
			refusal.Severity == "FATAL" {
			return fmt.Errorf("%w; the connection string or the environment names %s, which is neither a parameter of the connection "+
				"nor a setting of the server: remove it, or correct its name", err, unknown[1])
		}
	case "25006":
		return fmt.Errorf("%w; the server is read-only: it is a standby, or default_transaction_read_only is on. "+
			"Connect to the primary, for example with target_session_attrs=read-write", err)
	}
	return err
}

var unknownSetting = regexp.MustCompile(`^unrecognized configuration parameter "([^"]+)"`)

var plainName = regexp.MustCompile(`^database "([A-Za-z0-9_]+)" does not exist$`)

// createdb returns the command that creates the database that a message names.
func createdb(message string) string {
	if name := plainName.FindStringSubmatch(message); name != nil {
		return "createdb " + name[1]
	}
	return "createdb"
}

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
