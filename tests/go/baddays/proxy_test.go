package baddays

import (
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// proxy is a network between workers and their server that can fail.
type proxy struct {
	t        *testing.T
	listener net.Listener
	server   string // the path of its socket
	relaying sync.WaitGroup

	mu      sync.Mutex
	moving  sync.Cond
	stalled bool // no data is relayed in either direction; new connections are accepted and stall, too
	rate    int  // bytes per second in each direction; 0 is unlimited
	down    flow // to the workers
	up      flow
	links   map[*link]bool
	opened  []time.Time // times of connections and connection attempts
}

// link is a connection from a worker to the server.
type link struct {
	client   *net.TCPConn
	upstream net.Conn
	lost     bool // the server's end is closed without a sign to the worker
}

// flow is the data in one direction, over all links.
type flow struct {
	bytes int64
	free  time.Time // the time at which all of it will have arrived
}

// newProxy starts a proxy in front of a database on a local socket, and returns it with the URL of the database through the proxy.
func newProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: listener, server: u.Query().Get("host") + "/.s.PGSQL.5432", links: make(map[*link]bool)}
	p.moving.L = &p.mu
	p.relaying.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.resume()
		p.reset()
		p.relaying.Wait()
	})
	return p, "postgres://postgres@" + listener.Addr().String() + u.Path
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // the test is over
		}
		p.mu.Lock()
		p.opened = append(p.opened, time.Now())
		p.mu.Unlock()
		upstream, err := net.Dial("unix", p.server)
		if err != nil {
			_ = conn.Close()
			continue
		}
		l := &link{client: conn.(*net.TCPConn), upstream: upstream}
		p.mu.Lock()
		p.links[l] = true
		p.mu.Unlock()
		p.relaying.Go(func() { p.relay(l, l.upstream, l.client, &p.up) })
		p.relaying.Go(func() { p.relay(l, l.client, l.upstream, &p.down) })
	}
}

// relay copies one direction of a link until one end closes it. If the link is lost, the worker's end stays open.
func (p *proxy) relay(l *link, to io.Writer, from io.Reader, f *flow) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.stalled {
			p.moving.Wait()
		}
		lost := l.lost
		arrives := f.take(n, p.rate)
		p.mu.Unlock()
		time.Sleep(time.Until(arrives))
		if lost && from == io.Reader(l.client) && err == nil {
			continue // discard the data of the worker
		}
		if lost && from == io.Reader(l.upstream) {
			return
		}
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			_ = l.client.Close()
			_ = l.upstream.Close()
			p.mu.Lock()
			delete(p.links, l)
			p.mu.Unlock()
			return
		}
	}
}

// catchUp is the maximum delay that a busy link may make up for, because a sleep can end milliseconds late.
const catchUp = 20 * time.Millisecond

// take adds bytes to the flow, and returns when they arrive at this rate.
func (f *flow) take(bytes, rate int) time.Time {
	f.bytes += int64(bytes)
	if rate == 0 {
		return time.Time{}
	}
	if earliest := time.Now().Add(-catchUp); f.free.Before(earliest) {
		f.free = earliest
	}
	f.free = f.free.Add(time.Duration(bytes) * time.Second / time.Duration(rate))
	return f.free
}

// narrow limits the proxy to rate bytes per second in each direction.
func (p *proxy) narrow(rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate = rate
}

// carried returns the number of bytes that the server has sent to the workers.
func (p *proxy) carried() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down.bytes
}

// stall stops all data, without closing connections.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = true
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = false
	p.moving.Broadcast()
}

// reset resets all connections.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		_ = l.client.SetLinger(0)
		_ = l.client.Close()
		_ = l.upstream.Close()
	}
}

// lose closes the server's side of all connections without a sign to the workers, whose data is discarded.
func (p *proxy) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.lost = true
		_ = l.upstream.Close()
	}
}

// arrivals returns when workers connected or tried to.
func (p *proxy) arrivals() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.opened)
}
