package pgtemp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// socketName is the path that PostgreSQL appends to the folder of its socket, for port 5432.
	socketName = "/.s.PGSQL.5432"
	// maxSocketPath is the maximum length of a socket's path, in bytes, on the strictest system (macOS).
	maxSocketPath = 103
	// logTail is the number of bytes of the server's log that an error quotes.
	logTail = 2000
)

// cleanUpCluster is the watchdog's script for a cluster in the folder $1. It waits until the server has removed its pid
// file, not until the pid is gone, because an orphan may remain a zombie.
const cleanUpCluster = `
pidfile=$1/data/postmaster.pid
if [ -e "$pidfile" ]; then kill -QUIT "$(head -n 1 "$pidfile")"; fi
tries=0
while [ -e "$pidfile" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1"
`

func startLocal(ctx context.Context, o Options) (*Server, error) {
	if runtime.GOOS == "windows" {
		return nil, unavailable("not supported on Windows")
	}
	binDir := o.BinDir
	if binDir == "" {
		found, err := findBinaries(usualPlaces())
		if err != nil {
			return nil, err
		}
		binDir = found
	} else if err := checkBinaries(binDir); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "PostgreSQL: a private server from %s\n", binDir)
	return startCluster(ctx, binDir, o)
}

// A cluster is a server run from binaries: one folder with its data, its log and its socket, and its process.
type cluster struct {
	dir      string
	binDir   string
	settings map[string]string
	owner    *owner
	watchdog *watchdog
	process  *os.Process   // nil until launched
	exited   chan struct{} // closed when the process has ended
}

// startCluster creates a new cluster with the binaries in binDir and starts it.
func startCluster(ctx context.Context, binDir string, o Options) (*Server, error) {
	c, err := newCluster(o.Dir)
	if err != nil {
		return nil, err
	}
	c.binDir, c.settings = binDir, o.Settings
	o.status.set("running initdb")
	if err := c.initialize(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	o.status.set("waiting for the server to accept connections")
	return c.serve(ctx)
}

// serve starts the server of a cluster that has its data. On failure it removes the cluster.
func (c *cluster) serve(ctx context.Context) (*Server, error) {
	if err := c.launch(); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	var log string
	stop := func() error {
		log = c.logTail()
		return c.stop()
	}
	server, err := newServer(ctx, c.address(), c.exited, stop)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	server.cluster = c
	return server, nil
}

// newCluster creates the folder of a cluster in another folder; an empty name is the folder of temporary files. Only
// its owner can read it, because every client of the socket is a superuser.
func newCluster(in string) (*cluster, error) {
	owner, err := serverOwner()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(in, "gw-")
	if err == nil && len(dir)+len(socketName) > maxSocketPath {
		err = os.Remove(dir)
		if err == nil {
			dir, err = os.MkdirTemp("/tmp", "gw-")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make the server's folder: %w", err)
	}
	watchdog, err := startWatchdog(cleanUpCluster, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &cluster{dir: dir, owner: owner, watchdog: watchdog}
	if owner != nil {
		if err := os.Chown(dir, owner.uid, owner.gid); err != nil {
			return nil, errors.Join(fmt.Errorf("change the owner of the server's folder: %w", err), c.stop())
		}
	}
	return c, nil
}

func (c *cluster) initialize(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.binDir, "initdb"), "-D", c.data(),
		"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir = "/" // the server's user may have no right to enter the current folder
	cmd.SysProcAttr = detached(c.owner)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run initdb: %w\n%s", err, tail(out))
	}
	return nil
}

// launch starts postgres directly, not by pg_ctl, so that it is a child process whose end is noticed.
func (c *cluster) launch() error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close()
	args := []string{
		"-D", c.data(), "-k", c.dir, "-p", "5432",
		"-c", "listen_addresses=", "-c", "logging_collector=off",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
	}
	for name, value := range c.settings {
		args = append(args, "-c", name+"="+value)
	}
	cmd := exec.Command(filepath.Join(c.binDir, "postgres"), args...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached(c.owner)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("launch postgres: %w", err)
	}
	exited := make(chan struct{})
	c.process, c.exited = cmd.Process, exited
	go func() {
		_ = cmd.Wait() // fails after an immediate shutdown; the log contains other reasons
		close(exited)
	}()
	return nil
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// address returns the address of the server. It contains the port, because PGPORT would apply otherwise.
func (c *cluster) address() url.URL {
	host := strings.NewReplacer("%2F", "/", "+", "%20").Replace(url.QueryEscape(c.dir))
	return url.URL{Scheme: "postgres", User: url.User("postgres"), Host: ":5432", RawQuery: "host=" + host}
}

// stop shuts the server down without a checkpoint, because its data is removed as well, and removes the folder.
func (c *cluster) stop() error {
	if c.process != nil {
		c.end(syscall.SIGQUIT)
	}
	err := os.RemoveAll(c.dir)
	if err != nil {
		err = fmt.Errorf("remove the server's folder: %w", err)
	}
	return errors.Join(err, c.watchdog.dismiss())
}

// end ends the server's process with a signal, and kills it if it does not end in time.
func (c *cluster) end(signal os.Signal) {
	_ = c.process.Signal(signal) // it may have ended already
	select {
	case <-c.exited:
	case <-time.After(stopTimeout):
		_ = c.process.Kill()
		<-c.exited
	}
}

func (c *cluster) logTail() string {
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return tail(log)
}

func tail(out []byte) string {
	if len(out) > logTail {
		out = out[len(out)-logTail:]
	}
	return string(bytes.TrimSpace(out))
}

// owner is the user that runs a server, if it is not the current user.
type owner struct{ uid, gid int }

// serverOwner returns the user that runs a server, nil for the current one. PostgreSQL refuses to run as root, so for
// root it returns postgres, a user that most packages create, otherwise nobody.
func serverOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, fmt.Errorf("read the user id of %s: %w", name, err)
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, fmt.Errorf("read the group id of %s: %w", name, err)
		}
		return &owner{uid, gid}, nil
	}
	return nil, errors.New("drop root's rights: there is no user postgres and no user nobody to run the server as")
}

var errNoCluster = errors.New("the server does not run from local binaries")

// Halt stops the server like `pg_ctl stop`, in mode fast, or in mode immediate, after which the next start recovers as
// after a crash. The data is kept, with every committed transaction if synchronous_commit is on. Only a server from
// local binaries can be halted.
func (s *Server) Halt(immediate bool) error {
	if s.cluster == nil {
		return errNoCluster
	}
	if immediate {
		s.cluster.end(syscall.SIGQUIT)
	} else {
		s.cluster.end(syscall.SIGINT)
	}
	return nil
}

// Resume starts a server that was halted, at the same address, and returns when it accepts connections.
func (s *Server) Resume(ctx context.Context) error {
	if s.cluster == nil {
		return errNoCluster
	}
	if err := s.cluster.launch(); err != nil {
		return err
	}
	return WaitReady(ctx, s.URL("postgres"), s.cluster.exited)
}

// Standby creates a hot standby of this server, which it restarts, and returns when both accept connections. follow, if
// not empty, is the primary_conninfo of the standby; by default it is the address of this server.
func (s *Server) Standby(ctx context.Context, follow string) (*Server, error) {
	if err := s.Halt(false); err != nil {
		return nil, err
	}
	standby, err := s.cluster.copy(ctx)
	if err != nil {
		return nil, fmt.Errorf("make a standby: %w", err)
	}
	if err := s.Resume(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("resume the primary: %w", err), standby.stop())
	}
	if follow == "" {
		follow = fmt.Sprintf("host=%s port=5432 user=postgres", s.cluster.dir)
	}
	standby.settings["primary_conninfo"] = follow
	return standby.serve(ctx)
}

// copy returns a cluster with the data of c, which is halted, set up as a standby.
func (c *cluster) copy(ctx context.Context) (*cluster, error) {
	other, err := newCluster(filepath.Dir(c.dir))
	if err != nil {
		return nil, err
	}
	other.binDir, other.settings = c.binDir, maps.Clone(c.settings)
	if other.settings == nil {
		other.settings = make(map[string]string)
	}
	cmd := exec.CommandContext(ctx, "cp", "-R", "-p", c.data(), other.data()) // -p: its owner too
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the data: %w\n%s", err, tail(out)), other.stop())
	}
	signal := filepath.Join(other.data(), "standby.signal")
	err = os.WriteFile(signal, nil, 0o600)
	if err == nil && other.owner != nil {
		err = os.Chown(signal, other.owner.uid, other.owner.gid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("configure the copy as a standby: %w", err), other.stop())
	}
	return other, nil
}
