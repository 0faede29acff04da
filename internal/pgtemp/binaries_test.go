package pgtemp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBinariesArePgConfigsThenThoseInPathThenTheNewest(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"config", "path", "pg/9.6/bin", "pg/10/bin"} {
		writeScript(t, filepath.Join(root, dir, "initdb"), "")
		writeScript(t, filepath.Join(root, dir, "postgres"), "")
	}
	writeScript(t, filepath.Join(root, "client", "initdb"), "") // without postgres: not a server
	writeScript(t, filepath.Join(root, "tools", "pg_config"), "echo "+filepath.Join(root, "config"))
	patterns := []string{filepath.Join(root, "pg", "*", "bin")}

	for _, test := range []struct{ path, want string }{
		{"tools:path", "config"},
		{"path:none", "path"},
		{"client", "pg/10/bin"},
	} {
		var path []string
		for dir := range strings.SplitSeq(test.path, ":") {
			path = append(path, filepath.Join(root, dir))
		}
		t.Setenv("PATH", strings.Join(path, ":"))
		got, err := findBinaries(patterns)
		if err != nil || got != filepath.Join(root, test.want) {
			t.Errorf("with PATH %s found %q, want %q: %v", test.path, got, test.want, err)
		}
	}
}

func TestMissingBinariesAreReportedWithThePlacesThatWereSearched(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := findBinaries([]string{"/nowhere/*/bin"})
	var absent unavailable
	if !errors.As(err, &absent) || !strings.Contains(err.Error(), "/nowhere/*/bin") {
		t.Errorf("got %v", err)
	}
}

func TestAFolderWithoutAServerIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	_, err := Start(t.Context(), Options{BinDir: dir})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("want an error that names %s, got %v", dir, err)
	}
}

// writeScript makes an executable with the lines given, which sh runs.
func writeScript(t *testing.T, path, lines string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
