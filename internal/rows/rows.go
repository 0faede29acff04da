// Package rows reads what a query returns, be it by pgx or by database/sql.
package rows

// Rows is what pgx.Rows and *sql.Rows have in common.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// Each calls fn for one row after the other, until it returns an error. Closing the rows is left to the caller.
func Each(r Rows, fn func(scan func(...any) error) error) error {
	for r.Next() {
		if err := fn(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}
