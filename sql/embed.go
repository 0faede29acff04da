// Package sql holds the queue itself: the SQL that [github.com/gwsql/gw/pkg/migrate] puts into a database.
//
// functions/ is the source of truth for every function, one a file; functions/install.sql lists them in load order.
// migrations/ is what a database has gone through: tables and data by hand, functions as snapshots of functions/,
// which releases make final.
// extension/ is what else is in the files of the PostgreSQL extension, which are written from the migrations.
// All are tern templates with the key schema: the schema's name, already quoted.
package sql

import "embed"

// FS holds the directories functions, migrations and extension.
//
//go:embed all:functions all:migrations all:extension
var FS embed.FS
