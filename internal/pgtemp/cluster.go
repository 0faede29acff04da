package pgtemp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// socketName is what PostgreSQL appends to the folder of its socket, for the port that we give it.
	socketName = "/.s.PGSQL.5432"
	// maxSocketPath is the longest path that a socket may have, in bytes, on the strictest system (macOS).
	maxSocketPath = 103
	// logTail is how much of the server's log an error quotes, in bytes.
	logTail = 2000
)

// cleanUpCluster is what the watchdog does for a cluster in the folder $1. It waits for the server to remove its pid file,
// not for the pid to vanish: an orphan may stay a zombie.
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
	dog      *watchdog
	process  *os.Process   // nil until launched
	exited   chan struct{} // closed when the process has ended
}

// startCluster makes a new cluster with the binaries in binDir and starts it.
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

// serve launches a cluster that has its data. If that fails, the cluster is gone.
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

// newCluster makes the folder of a cluster in another, which may be empty for that of temporary files. It is readable by
// its owner alone: whoever reaches the socket is superuser.
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
	dog, err := startWatchdog(cleanUpCluster, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &cluster{dir: dir, owner: owner, dog: dog}
	if owner != nil {
		if err := os.Chown(dir, owner.uid, owner.gid); err != nil {
			return nil, errors.Join(fmt.Errorf("hand over the server's folder: %w", err), c.stop())
		}
	}
	return c, nil
}

func (c *cluster) initialize(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.binDir, "initdb"), "-D", c.data(),
		"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir = "/" // the owner may have no right to enter the current folder
	cmd.SysProcAttr = detached(c.owner)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run initdb: %w\n%s", err, tail(out))
	}
	return nil
}

// launch runs postgres itself rather than pg_ctl, so that it is our child and we see it end.
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
		_ = cmd.Wait() // an immediate shutdown is a failure to PostgreSQL; the log has every other reason
		close(exited)
	}()
	return nil
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// address names the port too, else PGPORT would.
func (c *cluster) address() url.URL {
	host := strings.NewReplacer("%2F", "/", "+", "%20").Replace(url.QueryEscape(c.dir))
	return url.URL{Scheme: "postgres", User: url.User("postgres"), Host: ":5432", RawQuery: "host=" + host}
}

// stop shuts the server down without a checkpoint, since its data goes as well, and removes the folder.
func (c *cluster) stop() error {
	if c.process != nil {
		c.end(syscall.SIGQUIT)
	}
	err := os.RemoveAll(c.dir)
	if err != nil {
		err = fmt.Errorf("remove the server's folder: %w", err)
	}
	return errors.Join(err, c.dog.dismiss())
}

// end ends the server's process by a signal, or if it does not listen, by force.
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
