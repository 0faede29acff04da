//go:build ha

package ha

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// node is a machine of the cluster: Patroni with its PostgreSQL.
type node struct {
	name       string
	port, rest int
	folder     string
	cluster    *cluster
	patroni    *process
}

// settings is the configuration of a node of Patroni, with the settings that docs/deploy.md recommends.
const settings = `
scope: gw
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {host: "127.0.0.1:%[3]d"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 3
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, shared_buffers: 16MB, max_wal_size: 256MB}
  initdb: [{encoding: UTF8}, {locale: C}, data-checksums]
  pg_hba:
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
postgresql:
  listen: "127.0.0.1:%[4]d"
  connect_address: "127.0.0.1:%[4]d"
  data_dir: %[5]s/data
  bin_dir: %[6]s
  pgpass: %[5]s/pgpass
  authentication:
    superuser: {username: postgres}
    replication: {username: replicator}
    rewind: {username: postgres}
  parameters: {unix_socket_directories: ""}
`

func newNode(t *testing.T, c *cluster, name string) *node {
	t.Helper()
	n := &node{name: name, port: freePort(t), rest: freePort(t), folder: filepath.Join(c.folder, name), cluster: c}
	if err := os.Mkdir(n.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf(settings, name, n.rest, c.etcdPort, n.port, n.folder, c.programs.postgres)
	if err := os.WriteFile(n.config(), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	own(t, n.folder, c.as)
	return n
}

func (n *node) config() string { return filepath.Join(n.folder, "patroni.yaml") }

// start starts Patroni, which starts PostgreSQL.
func (n *node) start(t *testing.T) {
	t.Helper()
	n.patroni = start(t, filepath.Join(n.cluster.folder, n.name+".log"), n.cluster.as, []string{n.cluster.programs.modules()},
		"/usr/bin/python3", n.cluster.programs.patroni(), n.config())
}

// postmaster returns the process of PostgreSQL.
func (n *node) postmaster(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(n.folder, "data/postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Split(string(content), "\n")[0])
	if err != nil {
		t.Fatalf("read the process of PostgreSQL: %v", err)
	}
	return pid
}

// processes returns all processes of the node: Patroni first, so that it does not see the others stop.
func (n *node) processes(t *testing.T) []int {
	t.Helper()
	return append(tree(t, n.patroni.cmd.Process.Pid), tree(t, n.postmaster(t))...)
}

// receivers returns the processes that receive WAL.
func (n *node) receivers(t *testing.T) (found []int) {
	t.Helper()
	for _, pid := range tree(t, n.postmaster(t)) {
		title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(title), "walreceiver") {
			found = append(found, pid)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d processes that receive WAL", n.name, len(found))
	}
	return found
}

// kill kills all processes of the node at once, as the loss of its machine does.
func (n *node) kill(t *testing.T) {
	t.Helper()
	signalAll(t, syscall.SIGKILL, n.processes(t))
	<-n.patroni.end
}

// freeze stops all processes of the node until it is killed; its connections stay open.
func (n *node) freeze(t *testing.T) {
	t.Helper()
	frozen := n.processes(t)
	signalAll(t, syscall.SIGSTOP, frozen)
	continuing(t, frozen)
}

// continuing returns a function that lets stopped processes continue. The test calls it when it ends, at the latest.
func continuing(t *testing.T, stopped []int) (thaw func()) {
	thaw = func() { signalAll(t, syscall.SIGCONT, stopped) }
	t.Cleanup(thaw)
	return thaw
}
