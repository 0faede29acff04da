// Release keeps sql/migrations in step with sql/functions, and cuts releases. It runs in the root of the repository.
//
//	go run ./scripts/release snapshot       writes the snapshot that is not released yet
//	go run ./scripts/release cut 0.1.0      makes all migrations final, and dates the changelog
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gwsql/gw/internal/release"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "snapshot":
		return release.Snapshot("sql")
	case len(args) == 2 && args[0] == "cut":
		return release.Cut(".", args[1], time.Now())
	default:
		return errors.New("want: snapshot, or: cut VERSION")
	}
}
