package inspect_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/inspect"
)

func TestIndentedJSONIsBounded(t *testing.T) {
	nested := func(open, shut string, depth int) string {
		return strings.Repeat(open, depth) + "1" + strings.Repeat(shut, depth)
	}
	for name, text := range map[string]string{
		"arrays":            nested("[", "]", 6000),
		"objects":           nested(`{"a":`, "}", 5000),
		"deep and wide":     strings.Repeat("[", 200) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 200),
		"brackets in texts": `["` + strings.Repeat("[{,", 100_000) + `\"[[["]`,
		"flat":              "[" + strings.Repeat("1,", 100_000) + "1]",
		"no JSON":           strings.Repeat("]", 10_000),
	} {
		got := inspect.Indent(text)
		if len(got) > 8*len(text)+1<<16 {
			t.Errorf("%s: %d bytes became %d", name, len(text), len(got))
		}
		if strings.Join(strings.Fields(got), "") != text {
			t.Errorf("%s: the text changed", name)
		}
	}
	for text, want := range map[string]string{`{"a":[1.0,"x"],"b":{}}`: "{\n  \"a\": [\n    1.0,\n    \"x\"\n  ],\n  \"b\": {}\n}", "[[1": "[[1", "": ""} {
		if got := inspect.Indent(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
