package languages

import (
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// forward opens a TCP port to a server that may listen on a Unix socket only, which Java's driver cannot use. The port is
// closed after the test.
func forward(t *testing.T, server *pgx.ConnConfig) (host string, port int) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatalf("open a port to the server: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go pipe(client, server)
		}
	}()
	address := listener.Addr().(*net.TCPAddr)
	return address.IP.String(), address.Port
}

// pipe connects a client to the server until one of them closes the connection.
func pipe(client net.Conn, server *pgx.ConnConfig) {
	defer client.Close()
	network, address := pgconn.NetworkAddress(server.Host, server.Port)
	backend, err := net.Dial(network, address)
	if err != nil {
		return // the client sees its connection end
	}
	go func() {
		defer backend.Close()
		_, _ = io.Copy(backend, client)
	}()
	_, _ = io.Copy(client, backend)
}
