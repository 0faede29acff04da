// Release updates sql/migrations from sql/functions, and cuts releases. It runs in the root of the repository.
//
//	go run ./scripts/release snapshot            writes the snapshot that is not released yet
//	go run ./scripts/release calls 0.1.0 FILE    stores the statements in a file as the calls of a release; DATABASE_URL is a
//	                                             migrated database
//	go run ./scripts/release cut 0.1.0           marks all migrations as released, and dates the changelog
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/release"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "snapshot":
		return release.Snapshot("sql")
	case len(args) == 3 && args[0] == "calls":
		return keepCalls(ctx, args[1], args[2])
	case len(args) == 2 && args[0] == "cut":
		return release.Cut(".", args[1], time.Now())
	default:
		return errors.New("want: snapshot, or: calls VERSION FILE, or: cut VERSION")
	}
}

func keepCalls(ctx context.Context, version, recorded string) error {
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return release.KeepCalls(ctx, conn, recorded, filepath.Join("pkg/migrate/testdata", version, "calls.json"))
}
