package recovery

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
)

// cutter is a network in front of a server that cuts connections before and after statements. The connections that a worker
// makes for itself pin the search_path; the others are those of its handlers.
type cutter struct {
	listener net.Listener
	server   string // the path of its socket
	relaying sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	odds   int  // one in this number of statements of handlers is cut, before or after it; 0 is none
	at     int  // the statement of a handler to cut, from 1; 0 is none
	after  bool // after it
	seen   int  // statements of handlers
	cuts   int
}

// ownOdds is how much more rarely the worker's own statements are cut.
const ownOdds = 20

// newCutter starts a cutter in front of a database on a local socket, and returns it with the URL of the database through it.
func newCutter(t *testing.T, database string, seed uint64) (*cutter, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: listener, server: u.Query().Get("host") + "/.s.PGSQL.5432",
		random: rand.New(rand.NewPCG(seed, 1))}
	c.relaying.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			c.relaying.Go(func() { c.serve(client.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		c.relaying.Wait()
	})
	return c, "postgres://postgres@" + listener.Addr().String() + u.Path + "?sslmode=disable"
}

// choice is what happens to a statement.
type choice int

const (
	pass choice = iota
	cutBefore
	cutAfter
)

func (c *cutter) choose(isOwn bool) choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	odds := c.odds
	if isOwn {
		odds *= ownOdds
	} else if c.seen++; c.seen == c.at {
		c.cuts++
		return map[bool]choice{false: cutBefore, true: cutAfter}[c.after]
	}
	if odds == 0 || c.random.IntN(odds) > 0 {
		return pass
	}
	c.cuts++
	return cutBefore + choice(c.random.IntN(2))
}

// count returns how many statements of handlers there were, and how many connections were cut.
func (c *cutter) count() (statements, cuts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen, c.cuts
}

// message is a message of the protocol: its type, 0 for the first one of a connection, and all its bytes.
type message struct {
	kind  byte
	bytes []byte
}

func read(from io.Reader, isFirst bool) (message, error) {
	head := make([]byte, 5)
	if isFirst {
		head = head[1:]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return message{}, err
	}
	m := message{bytes: append(make([]byte, 0, 64), head...)}
	if !isFirst {
		m.kind = head[0]
	}
	rest := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
	_, err := io.ReadFull(from, rest)
	m.bytes = append(m.bytes, rest...)
	return m, err
}

// serve relays a connection until one end closes it or it is cut.
func (c *cutter) serve(client *net.TCPConn) {
	defer client.Close()
	server, err := net.Dial("unix", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	first, err := read(client, true)
	if err != nil {
		return
	}
	if _, err := server.Write(first.bytes); err != nil {
		return
	}
	// Closed when the server is ready again after the last statement, whose answer is kept back from then on.
	keepsBack, ready := make(chan struct{}), make(chan struct{})
	c.relaying.Go(func() {
		defer client.Close()
		answer(server, client, keepsBack, ready)
	})
	c.relay(client, server, bytes.Contains(first.bytes, []byte("search_path\x00")), keepsBack, ready)
}

// relay passes the messages of the client on, up to a cut.
func (c *cutter) relay(client, server net.Conn, isOwn bool, keepsBack, ready chan struct{}) {
	isOver := false // after this statement
	for {
		m, err := read(client, false)
		if err != nil {
			return
		}
		if isOver && (m.kind == 'P' || m.kind == 'B' || m.kind == 'Q') { // the next one of a pipeline
			return
		}
		if m.kind == 'Q' || m.kind == 'E' || m.kind == 'P' { // a query, or an execution, or a statement to prepare
			switch c.choose(isOwn) {
			case cutBefore:
				return
			case cutAfter:
				isOver = true
			}
		}
		isEnd := isOver && (m.kind == 'Q' || m.kind == 'S')
		if isEnd {
			close(keepsBack)
		}
		if _, err := server.Write(m.bytes); err != nil {
			return
		}
		if isEnd {
			<-ready
			return
		}
	}
}

// answer passes the messages of the server on until keepsBack is closed, and closes ready when the server is ready again after that, or is
// gone.
func answer(server io.Reader, client io.Writer, keepsBack, ready chan struct{}) {
	defer close(ready)
	for {
		m, err := read(server, false)
		if err != nil {
			return
		}
		select {
		case <-keepsBack:
			if m.kind == 'Z' {
				return
			}
		default:
			if _, err := client.Write(m.bytes); err != nil {
				return
			}
		}
	}
}
