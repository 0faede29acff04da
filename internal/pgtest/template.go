package pgtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
)

// templateLock is the advisory lock under which one test process creates the template while the others wait.
const templateLock = 0x67775f74657374 // "gw_test"

// ensureTemplate creates the migrated database from which tests' databases are copied, unless it exists.
func ensureTemplate(ctx context.Context, admin *pgx.Conn, name string) (err error) {
	if _, err := admin.Exec(ctx, "select pg_advisory_lock($1)", int64(templateLock)); err != nil {
		return fmt.Errorf("lock the template: %w", err)
	}
	defer func() {
		_, unlockErr := admin.Exec(ctx, "select pg_advisory_unlock($1)", int64(templateLock))
		err = errors.Join(err, unlockErr)
	}()
	var there bool
	err = admin.QueryRow(ctx, "select exists (select from pg_database d where d.datname = $1)", name).Scan(&there)
	if err != nil {
		return fmt.Errorf("look for the template: %w", err)
	}
	if there {
		return nil
	}
	return makeTemplate(ctx, admin, name)
}

// makeTemplate creates the template. It renames the database last, so that a failed migration leaves no template.
func makeTemplate(ctx context.Context, admin *pgx.Conn, name string) error {
	draft := name + "_draft"
	if err := exec(ctx, admin, "drop database if exists %s", draft); err != nil {
		return err
	}
	if err := exec(ctx, admin, "create database %s template template0", draft); err != nil {
		return err
	}
	config := admin.Config()
	config.Database = draft
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	return exec(ctx, admin, "alter database %s rename to %s", draft, name)
}

// templateName returns a name that depends on the SQL, so that a changed function is never tested with an old template.
func templateName(files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s %d\n", path, len(content))
		hash.Write(content)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash the SQL files: %w", err)
	}
	return fmt.Sprintf("gw_template_%x", hash.Sum(nil)[:8]), nil
}
