package hint_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/hint"
)

// pgx tries each address with TLS and then without.
func TestAFailedConnectionIsReportedOncePerAddress(t *testing.T) {
	server := refuser(t, "28P01", "password authentication failed")
	for name, c := range map[string]struct{ host, want string }{
		"wrong password": {server, "failed to connect to `user=me database=app`: " + server +
			" (127.0.0.1): server error: " +
			"FATAL: password authentication failed (SQLSTATE 28P01)"},
		"no server": {"127.0.0.1:1", "failed to connect to `user=me database=app`: 127.0.0.1:1 (127.0.0.1): dial error: " +
			"dial tcp 127.0.0.1:1: connect: connection refused; no PostgreSQL server listens there"},
		"no socket": {"/nonexistent:5432", "failed to connect to `user=me database=app`: /nonexistent/.s.PGSQL.5432 (/nonexistent): " +
			"dial error: dial unix /nonexistent/.s.PGSQL.5432: connect: no such file or directory; no PostgreSQL server listens there"},
		"both": {"127.0.0.1:1," + server, "failed to connect to `user=me database=app`:\n" +
			"\t127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused\n" +
			"\t" + server + " (127.0.0.1): server error: FATAL: password authentication failed (SQLSTATE 28P01)"},
	} {
		_, err := connect(t, c.host)
		err = fmt.Errorf("connect: %w", err)
		got := hint.For(err)
		if got.Error() != "connect: "+c.want {
			t.Errorf("%s:\n%v, want\n%s", name, got, c.want)
		}
		if !errors.Is(got, err) {
			t.Errorf("%s: the error is lost", name)
		}
	}
}

func TestAHostNameThatIsNotKnownIsReportedOnce(t *testing.T) {
	_, err := pgconn.Connect(t.Context(), "postgres://me@nosuchhost.invalid/app")
	if got := hint.For(err).Error(); strings.Count(got, "lookup nosuchhost.invalid") != 1 ||
		strings.Contains(got, "\n") {
		t.Error(got)
	}
}

func connect(t *testing.T, hosts string) (*pgconn.PgConn, error) {
	t.Helper()
	var names, ports []string
	for host := range strings.SplitSeq(hosts, ",") {
		at := strings.LastIndex(host, ":")
		names, ports = append(names, host[:at]), append(ports, host[at+1:])
	}
	return pgconn.Connect(t.Context(),
		fmt.Sprintf("host=%s port=%s user=me dbname=app", strings.Join(names, ","), strings.Join(ports, ",")))
}

// refuser starts a server that refuses TLS and answers every login with an error, and returns its address.
func refuser(t *testing.T, code, message string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	refusal := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				request := make([]byte, 4096)
				if n, err := conn.Read(request); err == nil && n == 8 {
					_, _ = conn.Write([]byte("N"))
					_, err = conn.Read(request)
					if err != nil {
						return
					}
				}
				_, _ = conn.Write(append([]byte{'E', 0, 0, 0, byte(len(refusal) + 4)}, refusal...))
			}()
		}
	}()
	return listener.Addr().String()
}
