//go:build ha

package ha

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtemp"
)

// patience is the maximum time that a test waits for a condition. It is long because it only matters when a test fails.
const patience = 5 * time.Minute

// cluster is three nodes of Patroni with etcd, and HAProxy in front of them.
type cluster struct {
	t         *testing.T // programs run to its end
	folder    string
	programs  programs
	as        *syscall.Credential
	etcdPort  int
	proxyPort int
	nodes     []*node
}

// newCluster starts a cluster and returns when its standbys follow the primary.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	folder, err := os.MkdirTemp(pgtemp.InMemory(), "gw-ha-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, folder: folder, programs: unpack(t, folder), as: serverUser(t), etcdPort: freePort(t), proxyPort: freePort(t)}
	c.startEtcd(t)
	for i := range 3 {
		c.nodes = append(c.nodes, newNode(t, c, fmt.Sprint("node", i+1)))
	}
	c.startProxy(t)
	c.nodes[0].start(t)
	c.await(t, "the first node is the primary", func(s state) bool { return s.leader() == "node1" })
	for _, n := range c.nodes[1:] {
		n.start(t)
	}
	c.awaitHealthy(t)
	return c
}

// startEtcd starts one etcd. Its timeouts are long because the machine can be busy.
func (c *cluster) startEtcd(t *testing.T) {
	t.Helper()
	data := filepath.Join(c.folder, "etcd")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	own(t, data, c.as)
	client, peer := fmt.Sprint("http://127.0.0.1:", c.etcdPort), fmt.Sprint("http://127.0.0.1:", freePort(t))
	start(t, filepath.Join(c.folder, "etcd.log"), c.as, nil, c.programs.etcd(), "--data-dir", data,
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
		"--heartbeat-interval", "500", "--election-timeout", "5000")
}

// proxySettings is the configuration of HAProxy that docs/deploy.md recommends, without the nodes.
const proxySettings = `
global
  maxconn 500
defaults
  mode tcp
  timeout connect 3s
  timeout check 3s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:%d
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
`

func (c *cluster) startProxy(t *testing.T) {
	t.Helper()
	config := fmt.Sprintf(proxySettings, c.proxyPort)
	for _, n := range c.nodes {
		config += fmt.Sprintf("  server %s 127.0.0.1:%d port %d\n", n.name, n.port, n.rest)
	}
	path := filepath.Join(c.folder, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, filepath.Join(c.folder, "haproxy.log"), c.as, []string{c.programs.libraries(t)}, c.programs.haproxy(), "-db", "-f", path)
}

// multi returns the URL with all servers, proxied the one by HAProxy.
func (c *cluster) multi() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprint("127.0.0.1:", n.port))
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/postgres?target_session_attrs=read-write&connect_timeout=3"
}

func (c *cluster) proxied() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?target_session_attrs=read-write&connect_timeout=3", c.proxyPort)
}

func waitUntil(t *testing.T, what string, is func() bool, more func() string) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !is(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s\n%s", what, more())
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
