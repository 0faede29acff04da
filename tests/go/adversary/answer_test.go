package adversary

import (
	"slices"
	"strings"
)

// usualCodes reports whether a hostile call may fail with this code. All other codes are unexpected errors: errors of
// ours without a code (P0001), internal errors (XX000), a server without memory or disk (53).
func usualCodes(code string) bool {
	return strings.HasPrefix(code, "GW") ||
		slices.Contains([]string{
			"22", // a value that is none
			"54", // or too large for PostgreSQL
		}, code[:min(2, len(code))]) ||
		slices.Contains([]string{
			"0A000",          // arrays of several dimensions
			"2D000",          // a procedure that commits, within a transaction
			"25006", "25P02", // the transaction is read-only, or has failed
			"40001", "40P01", // it met others; in transactions with several calls that includes deadlocks
			"42501",          // not granted
			"55P03", "57014", // what the session has set as limits
		}, code)
}

func anyCode(string) bool { return true }
