// Package rows reads the rows of a query of pgx or of database/sql.
package rows

// Rows are the methods that pgx.Rows and *sql.Rows have in common.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// Each calls fn for each row until fn returns an error. The caller closes the rows.
func Each(r Rows, fn func(scan func(...any) error) error) error {
	for r.Next() {
		if err := fn(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}
