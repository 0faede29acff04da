package migrate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/migrate"
)

// The files of the zip for PGXN and those of a clone are installed by the same Makefile.
func isInstalledByMake(t *testing.T, server *extensionServer) {
	config := server.pgConfig(t)
	build := t.TempDir()
	root := strings.TrimSuffix(server.scripts, filepath.Join(server.share, "extension"))
	run := func(directory string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = directory
		cmd.Env = append(os.Environ(), "MAKEFLAGS=-e", "PG_CONFIG="+config, "DESTDIR="+root, "BUILD="+build)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, output)
		}
	}
	for name, install := range map[string]func(){
		"clone": func() { run("../..", "make", "install") },
		"pgxn": func() {
			run("../..", "make", "dist-pgxn", "VERSION=0.1.0")
			run(build, "python3", "-m", "zipfile", "-e", "graphile_worker-0.1.0.zip", "out")
			run(filepath.Join(build, "out", "graphile_worker-0.1.0"), "make", "install")
		},
	} {
		server.removeScripts(t)
		install()
		conn := connect(t, server.database(t, "made_"+name))
		execute(t, conn, "create extension graphile_worker")
		if found := texts(t, conn, "select extversion from pg_extension where extname = 'graphile_worker'"); found[0] != fmt.Sprint(available(t)) {
			t.Errorf("%s: version %v", name, found)
		}
	}
}

// removeScripts removes the extension's files.
func (s *extensionServer) removeScripts(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.scripts, migrate.ExtensionName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// pgConfig returns the server's pg_config. The servers of npm have none, so a script stands for it that names their
// folder of shared files; PGXS is then that of this machine's packages.
func (s *extensionServer) pgConfig(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"make", "python3", "pg_config"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	config := filepath.Join(s.bin, "pg_config")
	if _, err := os.Stat(config); err != nil {
		config = filepath.Join(t.TempDir(), "pg_config")
		script := fmt.Sprintf("#!/bin/sh\ncase $1 in --sharedir) echo '%s' ;; *) exec pg_config \"$@\" ;; esac\n",
			s.share)
		if err := os.WriteFile(config, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	makefile, err := exec.CommandContext(t.Context(), config, "--pgxs").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(strings.TrimSpace(string(makefile))); err != nil {
		t.Skip("PGXS is missing:", err)
	}
	return config
}
