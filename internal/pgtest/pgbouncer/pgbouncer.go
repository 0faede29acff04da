// Package pgbouncer starts a PgBouncer in front of the database of a test.
package pgbouncer

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtemp"
)

// Start starts a PgBouncer in front of a database and returns its URL without the name of a pool, which the caller
// appends: transaction, single (the same, with one connection to the server), statement or session.
func Start(t testing.TB, databaseURL string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !isFile(program) {
			t.Fatal("pgbouncer is not installed: apt-get install pgbouncer, or make deps")
		}
	}
	server, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	target := fmt.Sprintf("host=%s port=%d dbname=%s user=%s", server.Host, server.Port, server.Database, server.User)
	if server.Password != "" {
		target += " password=" + server.Password
	}
	port := freePort(t)
	dir, err := os.MkdirTemp("", "gw-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
transaction = %[1]s pool_mode=transaction
single = %[1]s pool_mode=transaction pool_size=1
statement = %[1]s pool_mode=statement
session = %[1]s pool_mode=session
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %[2]d
unix_socket_dir =
auth_type = any
max_client_conn = 500
`, target, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(program, "--quiet", config)
	cmd.Dir = "/"
	if cmd.SysProcAttr, err = pgtemp.AsOwner(); err != nil { // it refuses to run as root
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	poolerURL := fmt.Sprintf("postgres://gw@127.0.0.1:%d", port)
	if err := pgtemp.WaitReady(t.Context(), poolerURL+"/session?sslmode=disable", ended); err != nil {
		_ = cmd.Process.Kill()
		<-ended // so log is complete
		t.Fatalf("%v: %s", err, &log)
	}
	return poolerURL
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
