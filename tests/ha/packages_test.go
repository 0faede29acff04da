//go:build ha

package ha

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages are Patroni and its modules of Python, etcd, and HAProxy and its libraries, in Debian 12. A machine that runs the other
// tests has Python and libpq.
var packages = []string{
	"patroni", "python3-cdiff", "python3-click", "python3-dateutil", "python3-dnspython", "python3-etcd", "python3-pkg-resources",
	"python3-prettytable", "python3-psutil", "python3-psycopg2", "python3-six", "python3-urllib3", "python3-wcwidth", "python3-yaml",
	"etcd-server",
	"haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1",
}

// programs is where the programs of a cluster are.
type programs struct {
	root     string // the unpacked packages
	postgres string // the folder of the server's binaries
}

// unpack downloads the packages and unpacks them in a folder. Nothing is installed.
func unpack(t *testing.T, folder string) programs {
	t.Helper()
	p := programs{root: filepath.Join(folder, "root"), postgres: serverBinaries(t)}
	archives := filepath.Join(folder, "archives")
	for _, dir := range []string{p.root, archives} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, archives, "apt-get", append([]string{"download", "-qq"}, packages...)...)
	found, err := filepath.Glob(filepath.Join(archives, "*.deb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range found {
		mustRun(t, archives, "dpkg-deb", "-x", archive, p.root)
	}
	for _, program := range []string{p.patroni(), p.etcd(), p.haproxy()} {
		if _, err := os.Stat(program); err != nil {
			t.Fatalf("the packages do not have a program: %v", err)
		}
	}
	return p
}

func (p programs) patroni() string { return filepath.Join(p.root, "usr/bin/patroni") }
func (p programs) etcd() string    { return filepath.Join(p.root, "usr/bin/etcd") }
func (p programs) haproxy() string { return filepath.Join(p.root, "usr/sbin/haproxy") }

// modules is the environment in which Python finds the unpacked modules.
func (p programs) modules() string {
	return "PYTHONPATH=" + filepath.Join(p.root, "usr/lib/python3/dist-packages")
}

// libraries is the environment in which HAProxy finds its libraries.
func (p programs) libraries(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.root, "usr/lib/*/liblua5.3.so.0"))
	if err != nil || len(found) != 1 {
		t.Fatalf("look for liblua5.3.so.0 in the packages: found %q, %v", found, err)
	}
	return "LD_LIBRARY_PATH=" + filepath.Dir(found[0])
}

// serverBinaries returns the folder of GW_TEST_BIN_DIR, otherwise the one of initdb in PATH.
func serverBinaries(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("GW_TEST_BIN_DIR"); dir != "" {
		return dir
	}
	found, err := exec.LookPath("initdb")
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err != nil {
		t.Fatalf("find PostgreSQL's server: %v; install it, or set GW_TEST_BIN_DIR to the folder of initdb", err)
	}
	return filepath.Dir(found)
}

func mustRun(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
}
