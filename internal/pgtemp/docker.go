package pgtemp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

const (
	// dockerImage is the server that Docker runs.
	dockerImage = "postgres:17-alpine"
	// dockerProbeTimeout is the timeout of the check for a Docker daemon.
	dockerProbeTimeout = 5 * time.Second
)

func startDocker(ctx context.Context, o Options) (*Server, error) {
	probe, cancel := context.WithTimeout(ctx, dockerProbeTimeout)
	defer cancel()
	o.status.set("asking Docker")
	if _, err := docker(probe, "version", "--format", "{{.Server.Version}}"); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, unavailable("there is no command docker")
		}
		return nil, unavailable(err.Error())
	}
	fmt.Fprintf(o.Log, "PostgreSQL: a container of the Docker image %s, which is pulled if it does not exist\n",
		dockerImage)

	// Every user of this machine can connect to the port, so the server needs a password.
	password := rand.Text()
	args := []string{
		"run", "--rm", "--detach", "--publish", "127.0.0.1::5432", "--env", "POSTGRES_PASSWORD=" +
			password, dockerImage,
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
	}
	for name, value := range o.Settings {
		args = append(args, "-c", name+"="+value)
	}
	o.status.set("Docker pulls the image " + dockerImage + " and starts it")
	id, err := docker(ctx, args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, unavailable(err.Error()) // most often the image cannot be pulled
	}
	watchdog, err := startWatchdog(`docker rm --force --volumes "$1"`, id)
	if err != nil {
		return nil, errors.Join(err, removeContainer(id))
	}
	stop := func() error { return errors.Join(removeContainer(id), watchdog.dismiss()) }
	published, err := docker(ctx, "port", id, "5432/tcp")
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	o.status.set("waiting for the container to accept connections")
	host, _, _ := strings.Cut(published, "\n")
	address := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", password), Host: host,
		RawQuery: "sslmode=disable"}
	return newServer(ctx, address, nil, stop)
}

func removeContainer(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_, err := docker(ctx, "rm", "--force", "--volumes", id)
	return err
}

// docker runs the docker command and returns its output. The error contains its stderr, but not its arguments, which
// may contain the password.
func docker(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w %s", args[0], err, tail(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
