package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Calls are the functions and statements that programs of a release call.
type Calls struct {
	Schema     int32      `json:"schema"`     // the version of the schema that the release comes with
	Functions  []Function `json:"functions"`  // the public functions
	Statements []Call     `json:"statements"` // the statements of the worker and the client
}

// A Call is a statement that the worker or the client of a release sends, with its types in the schema of that release.
type Call struct {
	SQL        string   `json:"sql"`
	Parameters []string `json:"parameters"` // the types of the parameters
	Columns    []string `json:"columns"`    // of the result, with their types
}

// Describe asks the server for the types of a statement's parameters and columns.
func Describe(ctx context.Context, conn *pgx.Conn, sql string) (Call, error) {
	described, err := conn.Prepare(ctx, "described", sql)
	if err != nil {
		return Call{}, fmt.Errorf("describe: %w", err)
	}
	if err := conn.Deallocate(ctx, "described"); err != nil {
		return Call{}, fmt.Errorf("describe: %w", err)
	}
	call := Call{SQL: sql, Parameters: []string{}, Columns: []string{}}
	for _, oid := range described.ParamOIDs {
		name, err := typeName(ctx, conn, oid)
		if err != nil {
			return Call{}, err
		}
		call.Parameters = append(call.Parameters, name)
	}
	for _, field := range described.Fields {
		name, err := typeName(ctx, conn, field.DataTypeOID)
		if err != nil {
			return Call{}, err
		}
		label := field.Name
		if label == "date_part" { // the name of extract before PostgreSQL 14
			label = "extract"
		}
		call.Columns = append(call.Columns, label+" "+name)
	}
	return call, nil
}

func typeName(ctx context.Context, conn *pgx.Conn, oid uint32) (name string, err error) {
	err = conn.QueryRow(ctx, "select format_type($1::oid, null)", oid).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("read name of type: %w", err)
	}
	return name, nil
}

// KeepCalls writes the calls of a release to the file path: the public functions of a migrated database, and the
// statements in the file recorded, which has one JSON string per line, with their types in that database.
func KeepCalls(ctx context.Context, conn *pgx.Conn, recorded, path string) error {
	lines, err := os.ReadFile(recorded)
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	var calls Calls
	if err := conn.QueryRow(ctx, "select version from graphile_worker._gw_schema_version").Scan(&calls.Schema); err != nil {
		return fmt.Errorf("read version of schema: %w", err)
	}
	if calls.Functions, err = Functions(ctx, conn); err != nil {
		return err
	}
	for line := range bytes.Lines(lines) {
		var sql string
		if err := json.Unmarshal(line, &sql); err != nil {
			return fmt.Errorf("read statements: %w", err)
		}
		call, err := Describe(ctx, conn, sql)
		if err != nil {
			return fmt.Errorf("%w: %s", err, sql)
		}
		calls.Statements = append(calls.Statements, call)
	}
	slices.SortFunc(calls.Statements, func(a, b Call) int { return strings.Compare(a.SQL, b.SQL) })
	calls.Statements = slices.CompactFunc(calls.Statements, func(a, b Call) bool { return a.SQL == b.SQL })
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(calls); err != nil {
		return fmt.Errorf("write calls: %w", err)
	}
	return writeFile(path, text.String())
}

// Functions returns the public functions of a queue, with their arguments and results.
func Functions(ctx context.Context, conn *pgx.Conn) ([]Function, error) {
	rows, _ := conn.Query(ctx, `
		select p.proname::text, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), '')
		  from pg_proc as p
		  join pg_namespace as n on n.oid = p.pronamespace
		 where n.nspname = 'graphile_worker' and left(p.proname, 4) <> '_gw_'
		 order by 1, 2`) // CollectRows returns the error
	functions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Function])
	if err != nil {
		return nil, fmt.Errorf("read functions: %w", err)
	}
	return functions, nil
}

// A Function is a public function of the queue, as PostgreSQL prints it.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Results   string `json:"results"`
}

// Takes reports whether every call of an earlier function is valid for f: the only changes are appended arguments with
// defaults, and appended columns of the result.
func (f Function) Takes(earlier Function) bool {
	more, ok := strings.CutPrefix(f.Arguments, earlier.Arguments)
	if !ok || f.Name != earlier.Name {
		return false
	}
	for _, added := range splitOutside(strings.TrimPrefix(more, ", "), ',') {
		if added != "" && !strings.Contains(added, " DEFAULT ") {
			return false
		}
	}
	columns := strings.TrimSuffix(earlier.Results, ")")
	return f.Results == earlier.Results ||
		columns != earlier.Results && strings.HasPrefix(earlier.Results, "TABLE(") &&
			strings.HasPrefix(f.Results, columns+", ")
}
