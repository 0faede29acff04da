package cron_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// long matches a number with so many digits that the messages of the parsers differ.
var long = regexp.MustCompile(`[0-9]{10}`)

// FuzzAPatternIsParsedAsByAnIndependentParser compares the values of each field, or the messages.
func FuzzAPatternIsParsedAsByAnIndependentParser(f *testing.F) {
	for _, text := range []string{
		"* * * * *", "30 4 * * 1", "0 */4 * * *", "30 4,10-15 * * 1", "*/5 0 1,15 */2 7", "0-59 0-23 1-31 1-12 0-6",
		"0-59 0-23 1-31 1-12 0-7", "59 23 31 12 6",
		"0 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23 * * *", "0 0,1,2,3 1,2 1,2 0,1",
		"00 007 01 012 5-7", "*/1 */99 */31 */12 */8", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
		"* * * * 8", "* * * * 6-9", "5-1 * * * *", "5-5 * * * *", "* * * * 7-7", "*/0 * * * *", "1-5/2 * * * *",
		"1, * * * *", ",1 * * * *", "*/ * * * *", "*-5 * * * *", "- * * * *", "* * * *", "* * * * * *", " * * * * *",
		"* * * * * ", "*\t*\n*   * *", "", "@daily", "MON * * * *", "50-70 * * * *", "* * 0-3 * *", "70-80 * * * *",
	} {
		f.Add(text)
	}
	pool := pgtest.Pool(f, pgtest.Database(f))
	f.Fuzz(func(t *testing.T, text string) {
		if !isText(text) || long.MatchString(text) {
			return
		}
		want, wantErr := parse(text, "line 3 of crontab")
		got, err := parseInDatabase(t, pool, text)
		switch {
		case wantErr != nil && (err == nil || err.Error() != wantErr.Error()):
			t.Errorf("%q: error %v, want %v", text, err, wantErr)
		case wantErr == nil && err != nil:
			t.Errorf("%q: error %v", text, err)
		case wantErr == nil && got != want.masks():
			t.Errorf("%q is %+v, want %+v", text, got, want.masks())
		}
	})
}

// masks is a parsed pattern in the form of the database.
type masks struct {
	Minutes, Hours, Dates, Months, Dows int64
	ByClock                             bool
}

func (p pattern) masks() masks {
	var bits [5]int64
	for i, values := range p.fields {
		for value := range values {
			bits[i] |= 1 << value
		}
	}
	// If one of the two fields for the day is unrestricted, only the other one counts.
	if len(p.fields[4]) == 7 {
		bits[4] = 0
	} else if len(p.fields[2]) == 31 {
		bits[2] = 0
	}
	return masks{bits[0], bits[1], bits[2], bits[3], bits[4], p.byClock}
}

func parseInDatabase(t *testing.T, pool *pgxpool.Pool, text string) (masks, error) {
	t.Helper()
	rows, _ := pool.Query(t.Context(), `
		select p.minutes, p.hours, p.dates, p.months, p.dows, p.by_clock
		  from graphile_worker._gw_cron_parse($1, 'line 3 of crontab') as p`, text)
	parsed, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[masks])
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		if pgErr.Code != "GWRPT" {
			t.Fatalf("%q: SQLSTATE %s: %s", text, pgErr.Code, pgErr.Message)
		}
		return parsed, errors.New(pgErr.Message)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return parsed, nil
}

// isText reports whether PostgreSQL accepts a string as text and agrees with Go about its white space.
func isText(text string) bool {
	for _, r := range text {
		if r == 0 || r == 0x0b || r > 0x7e {
			return false
		}
	}
	return true
}
