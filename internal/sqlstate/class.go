// Package sqlstate classifies the error codes of the database: the queue's own, which docs/errors.md lists, and those
// of PostgreSQL that a caller of the queue may get. It also tells what an error of a call means for the next one.
package sqlstate

import "errors"

// Class is the meaning of an error code for the caller.
type Class string

const (
	// Unknown is a code that does not depend on the call: an error of the server or of the connection.
	Unknown Class = ""
	// Usage is a wrong argument: the same call fails again.
	Usage Class = "usage"
	// NotFound means that an object named in the call does not exist.
	NotFound Class = "not found"
	// Conflict means that the call contradicts stored data: it can succeed after the data has changed.
	Conflict Class = "conflict"
	// Retry means a conflict with concurrent transactions: the same call can succeed at once.
	Retry Class = "retry"
	// NotGranted means that the role may not make the call.
	NotGranted Class = "not granted"
)

var classes = map[string]Class{
	// Jobs.
	"GWBNI": Usage, "GWBID": Usage, "GWBQN": Usage, "GWBJK": Usage, "GWBKM": Usage, "GWBMA": Usage, "GWBMR": Usage,
	"GWBPR": Usage, "GWBAR": Usage, "GWBNF": Usage, "GWBFL": Usage, "GWBPL": Usage,
	"GWOKY": Usage, "GWOIV": Usage, "GWOJN": Usage,
	"GWBKC": Retry, "GWBKT": Conflict,
	// History and results.
	"GWKFR": Usage, "GWKLT": Retry,
	// Workers.
	"GWWID": Usage, "GWWBS": Usage, "GWWFF": Usage, "GWWCO": Usage, "GWWEX": Usage, "GWWOB": Usage, "GWWRT": Usage,
	"GWWSN": Usage, "GWWSR": Usage, "GWWPR": Usage,
	"GWWLL": Conflict,
	// Settings and administration.
	"GWSNM": Usage, "GWSVA": Usage, "GWCTN": Usage, "GWCIS": Usage, "GWIST": Usage, "GWILM": Usage,
	"GWCFW": Conflict,
	// Limits.
	"GWLVA": Usage, "GWLNM": Usage, "GWLHB": Retry,
	// Recurring jobs.
	"GWRPT": Usage, "GWRTZ": Usage, "GWRBT": Usage, "GWRIT": Usage,
	"GWRID": Conflict,

	// PostgreSQL's.
	"23514": Usage,    // a CHECK constraint
	"42622": Usage,    // a name that is too long
	"3F000": NotFound, // a schema
	"42P01": NotFound, // a table
	"42883": NotFound, // a function
	"42704": NotFound, // a role, type or constraint
	"42P06": Conflict, // a schema of this name exists
	"42P07": Conflict, // likewise a table
	"40001": Retry,    // a snapshot that is too old
	"40P01": Retry,    // a deadlock
	"55P03": Retry,    // a lock that was not free
	"42501": NotGranted,
}

// ClassOf returns the class of a code.
func ClassOf(code string) Class {
	if class, ok := classes[code]; ok {
		return class
	}
	if len(code) == 5 && code[:2] == "22" { // an invalid value
		return Usage
	}
	return Unknown
}

// IsOurs reports whether a code is one of the queue's own.
func IsOurs(code string) bool { return len(code) == 5 && code[:2] == "GW" }

// Of returns the SQLSTATE of an error, empty if it has none. It supports pgx and drivers whose errors have the same
// method.
func Of(err error) string {
	var refusal interface{ SQLState() string }
	if errors.As(err, &refusal) {
		return refusal.SQLState()
	}
	return ""
}
