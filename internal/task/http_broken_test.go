package task_test

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// breakable starts a server that reads one request of each connection and then calls a function of the test.
func breakable(t *testing.T, then func(conn *net.TCPConn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, request.Body); err == nil {
					then(conn.(*net.TCPConn))
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func say(text string) func(*net.TCPConn) {
	return func(conn *net.TCPConn) { _, _ = io.WriteString(conn, text) }
}

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0) // closing it sends RST
}

// hang waits until the worker has closed the connection.
func hang(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) }

func both(first, second func(*net.TCPConn)) func(*net.TCPConn) {
	return func(conn *net.TCPConn) {
		first(conn)
		second(conn)
	}
}

func TestAServerThatBreaksItsWordFailsTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		then func(*net.TCPConn)
		want string
	}{
		"closes":             {say(""), "the server closed the connection before it answered"},
		"resets":             {reset, "connection reset by peer"},
		"speaks no HTTP":     {say("SSH-2.0-OpenSSH_9.2\r\n"), "malformed HTTP response"},
		"closes in a header": {say(ok + "Content-Le"), "connection broken"},
		"too many headers": {say(ok + strings.Repeat("X-Padding: "+strings.Repeat("x", 1000)+"\r\n", 100) + "\r\n"),
			"headers exceeded"},
		"negative length": {say(ok + "Content-Length: -1\r\n\r\n"), "bad Content-Length"},
		"two lengths":     {say(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "Content-Length"},
		"sends too little": {say(ok + "Content-Length: 100\r\n\r\nshort"),
			"answered 200 OK, but not to the end: the server closed the connection within its answer"},
		"stops in a chunk": {say(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
			"answered 200 OK, but not to the end: the server closed"},
		"no last chunk": {say(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
			"answered 200 OK, but not to the end: the server closed"},
		"wrong chunk": {say(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
			"answered 200 OK, but not to the end: invalid byte in chunk length"},
		"resets in an answer": {both(say(ok+"Content-Length: 100\r\n\r\nshort"), reset),
			"answered 200 OK, but not to the end: "},
		"stops in a failure": {say("HTTP/1.1 500 Bad\r\nContent-Length: 100\r\n\r\nwhy"),
			"answered 500 Internal Server Error\nwhy"},
	} {
		t.Run(name, func(t *testing.T) {
			url := breakable(t, c.then)
			err := post(t, task.HTTP{URL: url + "/in"}, newJob())
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "POST "+url+"/in: ") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestAServerThatTakesTooLongFailsTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	for name, c := range map[string]struct{ says, want string }{
		"for an answer":   {"", ": timed out after 500ms"},
		"for its headers": {"HTTP/1.1 200 OK\r\n", ": timed out after 500ms"},
		"for the end of its answer": {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
			"answered 200 OK, but not to the end: timed out after 500ms"},
		"for the end of a failure": {"HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\nab",
			"answered 502 Bad Gateway\nab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{})
			url := breakable(t, both(both(say(c.says), hang), func(*net.TCPConn) { close(left) }))
			err := post(t, task.HTTP{URL: url, Timeout: 500 * time.Millisecond}, newJob())
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			<-left // the connection does not stay open
		})
	}
}

func TestMoreThanWasPromisedChangesNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	url := breakable(t, say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab and more HTTP/1.1 500 No\r\n\r\n"))
	for range 3 {
		// A client of its own for each, because net/http may give the next request the connection before it sees the
		// rest.
		if err := post(t, task.HTTP{URL: url}, newJob()); err != nil {
			t.Error(err)
		}
	}
}

func TestAnEndlessAnswerIsNotWaitedFor(t *testing.T) {
	pgtest.OnOneVersion(t)
	for status, ok := range map[string]bool{"200 OK": true, "500 No": false} {
		url := breakable(t, func(conn *net.TCPConn) {
			_, err := io.WriteString(conn, "HTTP/1.1 "+status+"\r\n\r\n")
			for err == nil {
				_, err = io.WriteString(conn, strings.Repeat("x", 64<<10))
			}
		})
		err := post(t, task.HTTP{URL: url}, newJob())
		if (err == nil) != ok || err != nil && len(err.Error()) > 5000 {
			t.Errorf("status %s: %v", status, err)
		}
	}
}

func TestAKeptConnectionThatTheServerHasClosedCostsNoAttempt(t *testing.T) {
	pgtest.OnOneVersion(t)
	// Each connection serves one job although it says that it stays open, and breaks when the next one comes.
	url := breakable(t, func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		_, _ = http.ReadRequest(bufio.NewReader(conn))
	})
	handle := handler(t, task.HTTP{URL: url})
	for range 3 {
		if err := handle(t.Context(), newJob()); err != nil {
			t.Error(err)
		}
	}
}

func TestAServerThatIsNotThereFailsTheJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	server := serve(t, nil)
	server.Close()
	err := post(t, task.HTTP{URL: server.URL + "/in?token=secret"}, newJob())
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want that nobody listens, without the query", err)
	}
}

func discardedLog() *log.Logger { return log.New(io.Discard, "", 0) }
