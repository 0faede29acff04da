package interleave

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// literal returns a text as a literal of SQL, null for "".
func literal(text string) string {
	if text == "" {
		return "null"
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// timeLiteral returns a time as SQL, null for 0.
func timeLiteral(m moment) string {
	if m == 0 {
		return "null"
	}
	return fmt.Sprintf("graphile_worker._gw_locked_at(%d)", m)
}

// numberLiteral returns a number as SQL, null for 0.
func numberLiteral[N int | moment](n N) string {
	if n == 0 {
		return "null"
	}
	return strconv.FormatInt(int64(n), 10)
}

func textArray(texts []string) string {
	if texts == nil {
		return "null"
	}
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = literal(text)
	}
	return "array[" + strings.Join(quoted, ", ") + "]::text[]"
}

func idArray(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return "array[" + strings.Join(texts, ", ") + "]::bigint[]"
}

// leaseLiteral returns a lease as SQL, null for 0.
func leaseLiteral(lease moment) string {
	if lease == worldLease {
		return "(select at from interleave.lease)"
	}
	return numberLiteral(lease)
}

func leaseArray(leases []moment) string {
	if leases == nil {
		return "null"
	}
	texts := make([]string, len(leases))
	for i, lease := range leases {
		texts[i] = leaseLiteral(lease)
	}
	return "array[" + strings.Join(texts, ", ") + "]::bigint[]"
}

// arrayText is how an array of ids or simple words is printed.
func arrayText[E any](elements []E) string {
	texts := make([]string, len(elements))
	for i, e := range elements {
		texts[i] = fmt.Sprint(e)
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// boolText is how a boolean is printed.
func boolText(b bool) string {
	if b {
		return "t"
	}
	return "f"
}

// jsonb returns a JSON text as jsonb prints it.
func jsonb(text string) string {
	if text == "" {
		return ""
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return text
	}
	return jsonbText(value)
}

func jsonbText(value any) string {
	switch v := value.(type) {
	case []any:
		elements := make([]string, len(v))
		for i, e := range v {
			elements[i] = jsonbText(e)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		for i, key := range keys {
			keys[i] = jsonbText(key) + ": " + jsonbText(v[key])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// merged is the payload of a job that is replaced: arrays are joined.
func merged(waiting, added string) string {
	if !strings.HasPrefix(waiting, "[") || !strings.HasPrefix(added, "[") {
		return added
	}
	both := []string{strings.Trim(waiting, "[]"), strings.Trim(added, "[]")}
	return "[" + strings.Join(slices.DeleteFunc(both, func(part string) bool { return part == "" }), ", ") + "]"
}

// flagsText is how the flags of a job are stored.
func flagsText(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	set := make(map[string]any)
	for _, flag := range flags {
		set[flag] = true
	}
	return jsonbText(set)
}
