//go:build unix

// Package pgbouncer starts a PgBouncer in front of the database of a test.
package pgbouncer

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Start starts a PgBouncer in front of a database and returns its URL without the name of a pool, which the caller appends:
// transaction, single (the same, with one connection to the server), statement or session.
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
	cmd.SysProcAttr = withoutRoot(t)
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
	waitForServer(t, poolerURL+"/session?sslmode=disable", ended, &log)
	return poolerURL
}

// waitForServer returns when the server accepts a connection.
func waitForServer(t testing.TB, databaseURL string, ended <-chan struct{}, log fmt.Stringer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, databaseURL)
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		select {
		case <-ended: // so log is complete
			t.Fatalf("the server ended: %s", log)
		case <-ctx.Done():
			t.Fatalf("wait for the server: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// withoutRoot returns attributes that run a program, which refuses to run as root, as the user of the tests' private server: no
// other user can connect to the server's socket.
func withoutRoot(t testing.TB) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
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
