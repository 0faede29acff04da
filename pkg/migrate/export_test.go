package migrate

import (
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
)

// NewFrom is New with other files than the embedded ones.
func NewFrom(conn *pgx.ConnConfig, cfg Config, files fs.FS) (*Migrator, error) {
	return newMigrator(conn, cfg, files)
}

// TryLocks makes m give up after so many tries, with hardly a pause between them.
func (m *Migrator) TryLocks(tries int) {
	m.locks.tries = tries
	m.locks.pause = func(int) time.Duration { return time.Millisecond }
}

// WaitForOthers makes m wait for other programs that migrate for so long, with hardly a pause before it looks again.
func (m *Migrator) WaitForOthers(d time.Duration) {
	m.locks.others = d
	m.locks.pause = func(int) time.Duration { return time.Millisecond }
}

// ExtensionFrom is Extension with other files than the embedded ones.
func ExtensionFrom(cfg ExtensionConfig, files fs.FS) ([]ExtensionFile, error) {
	return extensionFrom(cfg, files)
}

// Migrations returns what is run for a schema.
func Migrations(files fs.FS, schema string) ([]Migration, error) {
	return loadMigrations(files, schema)
}
