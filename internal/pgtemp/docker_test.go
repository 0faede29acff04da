package pgtemp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDockerServesAContainerThatStopRemoves(t *testing.T) {
	local := startForTest(t, Options{LocalOnly: true})
	dir := t.TempDir()
	writeScript(t, filepath.Join(dir, "docker"), `
cd "`+dir+`"
case $1 in
version) echo 27.0 ;;
run) echo "$*" >run; echo c0ffee ;;
port) echo `+forward(t, local)+` ;;
rm) echo "$*" >removed ;;
esac`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	var log strings.Builder
	server, err := startDocker(t.Context(), Options{Log: &log, Settings: map[string]string{"max_connections": "17"}})
	if err != nil {
		t.Fatal(err)
	}
	connect(t, server.URL("postgres"))
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), dockerImage) {
		t.Errorf("the image is not announced: %q", log.String())
	}
	if run := read(t, filepath.Join(dir, "run")); !strings.Contains(run, "127.0.0.1::5432") ||
		!strings.Contains(run, "max_connections=17") {
		t.Errorf("docker %s", run)
	}
	if removed := read(t, filepath.Join(dir, "removed")); removed != "rm --force --volumes c0ffee\n" {
		t.Errorf("docker %s", removed)
	}
}

func TestDockerWithoutADaemonIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	writeScript(t, filepath.Join(dir, "docker"), "echo no daemon >&2; exit 1")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := startDocker(t.Context(), Options{})
	var absent unavailable
	if !errors.As(err, &absent) || !strings.Contains(err.Error(), "no daemon") {
		t.Errorf("got %v", err)
	}
}

func TestDockerThatCannotPullTheImageIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	writeScript(t, filepath.Join(dir, "docker"), `[ $1 = version ] || { echo no route to the registry >&2; exit 125; }`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := startDocker(t.Context(), Options{Log: io.Discard})
	var absent unavailable
	if !errors.As(err, &absent) || !strings.Contains(err.Error(), "no route to the registry") {
		t.Errorf("got %v", err)
	}
}

// forward opens a port on the loopback that leads to a server's socket, and returns its address.
func forward(t *testing.T, server *Server) string {
	t.Helper()
	u, err := url.Parse(server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			socket, err := new(net.Dialer).DialContext(context.Background(), "unix", u.Query().Get("host")+socketName)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(socket, client); _ = socket.Close() }()
			go func() { _, _ = io.Copy(client, socket); _ = client.Close() }()
		}
	}()
	return listener.Addr().String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
