package config_test

import (
	"errors"
	"testing"

	"github.com/gwsql/gw/internal/config"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"jobs: 4\ntasks: {a: {exec: [sh, -c, 'exit 0'], timeout: 1s}}\n",
		"tasks:\n  a: &x {<<: *x}\n  b: *x\n",
		"forbidden_flags: {query: |\n  select 1\n  }\n",
		"connection: ${A}$${B}\n--- !!str\n",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parse(dir, text)
		var problems config.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Errorf("an error without a place: %v", err)
		}
	})
}
