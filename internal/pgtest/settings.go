package pgtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// oddValues are unusual values of settings that are no booleans.
var oddValues = map[string]string{
	"DateStyle":                     "SQL, DMY",
	"IntervalStyle":                 "sql_standard",
	"TimeZone":                      "Asia/Kathmandu",
	"backslash_quote":               "off",
	"bytea_output":                  "escape",
	"constraint_exclusion":          "on",
	"cpu_index_tuple_cost":          "1",
	"cpu_operator_cost":             "0",
	"cpu_tuple_cost":                "1",
	"cursor_tuple_fraction":         "1",
	"debug_parallel_query":          "on",
	"default_statistics_target":     "1",
	"default_text_search_config":    "pg_catalog.german",
	"default_transaction_isolation": "serializable",
	"effective_cache_size":          "1",
	"extra_float_digits":            "-15",
	"force_parallel_mode":           "on",
	"from_collapse_limit":           "1",
	"geqo_threshold":                "2",
	"join_collapse_limit":           "1",
	"min_parallel_index_scan_size":  "0",
	"min_parallel_table_scan_size":  "0",
	"parallel_setup_cost":           "0",
	"parallel_tuple_cost":           "0",
	"plan_cache_mode":               "force_custom_plan",
	"random_page_cost":              "0",
	"seq_page_cost":                 "100",
	"search_path":                   "nowhere",
	"timezone_abbreviations":        "India",
	"xmlbinary":                     "hex",
	"xmloption":                     "document",
}

// usualValues are the settings of these categories that have nothing to do with the form of values, plans, isolation or
// quoting: names of folders and tablespaces, vacuum, libraries, messages, and what a test of its own sets, because it
// forbids something.
var usualValues = []string{
	"check_function_bodies", "client_encoding", "client_min_messages", "createrole_self_grant",
	"default_table_access_method", "default_tablespace", "default_toast_compression", "default_transaction_read_only",
	"dynamic_library_path", "event_triggers", "extension_control_path", "geqo_effort", "geqo_generations",
	"geqo_pool_size", "geqo_seed", "geqo_selection_bias", "gin_fuzzy_search_limit", "gin_pending_list_limit",
	"hash_mem_multiplier", "icu_validation_level", "idle_in_transaction_session_timeout", "idle_session_timeout",
	"jit_above_cost", "jit_inline_above_cost", "jit_optimize_above_cost", "lc_messages", "lc_monetary", "lc_numeric",
	"lc_time", "local_preload_libraries", "lock_timeout", "recursive_worktable_factor",
	"restrict_nonsystem_relation_kind", "session_preload_libraries", "session_replication_role", "statement_timeout",
	"synchronize_seqscans", "temp_tablespaces", "transaction_timeout",
}

// MakeOdd gives a database an unusual value of each setting that users and superusers may set and that changes the form
// of values, plans, isolation or quoting. A setting that it does not know fails the test. The caller's sessions are not
// changed.
func MakeOdd(t testing.TB, databaseURL string) {
	t.Helper()
	err := withAdmin(databaseURL, makeOdd)
	if err != nil {
		t.Fatalf("make the settings of the database odd: %v", err)
	}
}

func makeOdd(ctx context.Context, conn *pgx.Conn) error {
	rows, _ := conn.Query(ctx, `
		select name, vartype, boot_val from pg_settings
		 where context in ('user', 'superuser')
		   and (category ~ '^(Query Tuning|Client Connection Defaults|Version and Platform Compatibility)'
		        or name in ('force_parallel_mode', 'debug_parallel_query'))
		   and name !~ '^(vacuum_|tcp_|transaction_(deferrable|isolation|read_only)$)'`) // the error comes again
	type setting struct{ Name, Vartype, BootVal string }
	settings, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s setting, err error) {
		var boot *string
		err = row.Scan(&s.Name, &s.Vartype, &boot)
		if boot != nil {
			s.BootVal = *boot
		}
		return s, err
	})
	if err != nil {
		return fmt.Errorf("list settings: %w", err)
	}
	odd := make(map[string]string)
	for _, s := range settings {
		value, isKnown := oddValues[s.Name]
		switch {
		case slices.Contains(usualValues, s.Name):
		case isKnown:
			odd[s.Name] = value
		case s.Vartype == "bool":
			odd[s.Name] = map[string]string{"on": "off", "off": "on"}[s.BootVal]
		default:
			return fmt.Errorf("no odd value of setting %s, which is %s", s.Name, cmp.Or(s.BootVal, "empty"))
		}
	}
	// Each in a statement of its own: ALTER DATABASE SET has no parameters.
	var script strings.Builder
	script.WriteString("set standard_conforming_strings = on;")
	for _, name := range slices.Sorted(maps.Keys(odd)) {
		value := "'" + odd[name] + "'"
		if name == "DateStyle" {
			value = odd[name]
		}
		fmt.Fprintf(&script, "alter database %s set %s = %s;", pgx.Identifier{conn.Config().Database}.Sanitize(), name,
			value)
	}
	_, err = conn.Exec(ctx, script.String(), pgx.QueryExecModeSimpleProtocol)
	return err
}
