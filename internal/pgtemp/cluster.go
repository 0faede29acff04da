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
	return startCluster(ctx, binDir, o.Settings)
}

// A cluster is a server run from binaries: one folder with its data, its log and its socket, and its process.
type cluster struct {
	dir     string
	owner   *owner
	dog     *watchdog
	process *os.Process   // nil until launched
	exited  chan struct{} // closed when the process has ended
}

// startCluster makes a new cluster with the binaries in binDir and starts it.
func startCluster(ctx context.Context, binDir string, settings map[string]string) (*Server, error) {
	c, err := newCluster()
	if err != nil {
		return nil, err
	}
	err = c.initialize(ctx, binDir)
	if err == nil {
		err = c.launch(binDir, settings)
	}
	if err != nil {
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
	return server, nil
}

// newCluster makes the folder of a cluster, readable by its owner alone: whoever reaches the socket is superuser.
func newCluster() (*cluster, error) {
	owner, err := serverOwner()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gw-")
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
	c := &cluster{dir: dir, owner: owner, dog: dog, exited: make(chan struct{})}
	if owner != nil {
		if err := os.Chown(dir, owner.uid, owner.gid); err != nil {
			return nil, errors.Join(fmt.Errorf("hand over the server's folder: %w", err), c.stop())
		}
	}
	return c, nil
}

func (c *cluster) initialize(ctx context.Context, binDir string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "initdb"), "-D", filepath.Join(c.dir, "data"),
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
func (c *cluster) launch(binDir string, settings map[string]string) error {
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		return fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close()
	args := []string{
		"-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-p", "5432",
		"-c", "listen_addresses=", "-c", "logging_collector=off",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
	}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	cmd := exec.Command(filepath.Join(binDir, "postgres"), args...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached(c.owner)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("launch postgres: %w", err)
	}
	c.process = cmd.Process
	go func() {
		_ = cmd.Wait() // an immediate shutdown is a failure to PostgreSQL; the log has every other reason
		close(c.exited)
	}()
	return nil
}

// address names the port too, else PGPORT would.
func (c *cluster) address() url.URL {
	host := strings.NewReplacer("%2F", "/", "+", "%20").Replace(url.QueryEscape(c.dir))
	return url.URL{Scheme: "postgres", User: url.User("postgres"), Host: ":5432", RawQuery: "host=" + host}
}

// stop shuts the server down without a checkpoint, since its data goes as well, and removes the folder.
func (c *cluster) stop() error {
	if c.process != nil {
		_ = c.process.Signal(syscall.SIGQUIT) // it may have ended already
		select {
		case <-c.exited:
		case <-time.After(stopTimeout):
			_ = c.process.Kill()
			<-c.exited
		}
	}
	err := os.RemoveAll(c.dir)
	if err != nil {
		err = fmt.Errorf("remove the server's folder: %w", err)
	}
	return errors.Join(err, c.dog.dismiss())
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
