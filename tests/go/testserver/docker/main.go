// Command docker runs PostgreSQL with the extensions that tests need in a Docker container, for testserver:
//
//	docker VERSION [SETTING=VALUE ...]
//
// It prints the server's URL, and removes the container when its standard input ends, for example because testserver was killed.
// It is a module of its own, so that importers of gw do not depend on the modules of Docker.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

const (
	// image is the name of the image that is built from our Dockerfile and kept; its tag is the version.
	image = "gw-testserver"
	// startTimeout is the timeout of the first connection, after the image was built.
	startTimeout = time.Minute
)

// dockerfile adds to the official image the extensions that tests/sql and the lint need.
//
//go:embed Dockerfile
var dockerfile []byte

func main() {
	signal.Ignore(os.Interrupt, syscall.SIGHUP) // signals of the terminal: testserver stops this program after its command
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	if len(args) == 0 {
		return errors.New("usage: docker VERSION [SETTING=VALUE ...]")
	}
	version, settings := args[0], args[1:]
	pool, err := dockertest.NewPool("")
	if err == nil {
		err = pool.Client.PingWithContext(ctx) // NewPool succeeds without a daemon
	}
	if err != nil {
		return fmt.Errorf("look for Docker: %w", err)
	}
	fmt.Fprintf(stderr, "PostgreSQL: a Docker container of the image %s:%s, which is built if it is not there\n", image,
		version)
	if err := buildImage(ctx, pool, version, stderr); err != nil {
		return fmt.Errorf("build the Docker image %s: %w", image, err)
	}
	container, err := startContainer(pool, version, settings)
	if err != nil {
		return fmt.Errorf("start PostgreSQL in Docker: %w", err)
	}
	defer func() { err = errors.Join(err, container.Close()) }()
	address := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     container.GetHostPort("5432/tcp"),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	pool.MaxWait = startTimeout
	if err := pool.Retry(func() error { return ping(ctx, address.String()) }); err != nil {
		return fmt.Errorf("connect to PostgreSQL in Docker: %w", err)
	}
	fmt.Fprintln(stdout, address.String())
	_, _ = io.Copy(io.Discard, stdin)
	return nil
}

func buildImage(ctx context.Context, pool *dockertest.Pool, version string, log io.Writer) error {
	var folder bytes.Buffer
	archive := tar.NewWriter(&folder)
	if err := archive.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644,
		Size: int64(len(dockerfile))}); err != nil {
		return err
	}
	if _, err := archive.Write(dockerfile); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return pool.Client.BuildImage(docker.BuildImageOptions{
		Context:        ctx,
		Name:           image + ":" + version,
		BuildArgs:      []docker.BuildArg{{Name: "MAJOR", Value: version}},
		InputStream:    &folder,
		OutputStream:   log,
		SuppressOutput: true,
	})
}

func startContainer(pool *dockertest.Pool, version string, settings []string) (*dockertest.Resource, error) {
	command := []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off"}
	for _, setting := range settings {
		command = append(command, "-c", setting)
	}
	return pool.RunWithOptions(
		&dockertest.RunOptions{
			Repository:   image,
			Tag:          version,
			Env:          []string{"POSTGRES_HOST_AUTH_METHOD=trust"},
			Cmd:          command,
			PortBindings: map[docker.Port][]docker.PortBinding{"5432/tcp": {{HostIP: "127.0.0.1"}}},
		},
		func(host *docker.HostConfig) { host.AutoRemove = true },
	)
}

func ping(ctx context.Context, databaseURL string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
