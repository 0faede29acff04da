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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

const (
	// dockerImage is the name of the image built of our Dockerfile, which stays for the next time; its tag is the version.
	dockerImage = "gw-testserver"
	// dockerVersion is the version of PostgreSQL in it, unless another one is asked for.
	dockerVersion = "17"
	// dockerStartTimeout limits the wait for the first connection, once the image is there.
	dockerStartTimeout = time.Minute
)

// dockerfile adds to the official image the extensions that tests/sql and the lint need.
//
//go:embed Dockerfile
var dockerfile []byte

func dockerServer(version string, log io.Writer) source {
	return func(ctx context.Context) (server, error) {
		pool, err := dockertest.NewPool("")
		if err == nil {
			err = pool.Client.PingWithContext(ctx) // NewPool succeeds without a daemon
		}
		if err != nil {
			return server{}, fmt.Errorf("look for Docker: %w", err)
		}
		fmt.Fprintf(log, "PostgreSQL: a Docker container of the image %s:%s, which is built if it is not there\n", dockerImage, version)
		if err := buildImage(ctx, pool, version, log); err != nil {
			return server{}, fmt.Errorf("build the Docker image %s: %w", dockerImage, err)
		}
		started, err := startContainer(ctx, pool, version)
		if err != nil {
			return server{}, fmt.Errorf("start PostgreSQL in Docker: %w", err)
		}
		return started, nil
	}
}

func buildImage(ctx context.Context, pool *dockertest.Pool, version string, log io.Writer) error {
	var folder bytes.Buffer
	archive := tar.NewWriter(&folder)
	if err := archive.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile))}); err != nil {
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
		Name:           dockerImage + ":" + version,
		BuildArgs:      []docker.BuildArg{{Name: "MAJOR", Value: version}},
		InputStream:    &folder,
		OutputStream:   log,
		SuppressOutput: true,
	})
}

func startContainer(ctx context.Context, pool *dockertest.Pool, version string) (server, error) {
	container, err := pool.RunWithOptions(
		&dockertest.RunOptions{
			Repository:   dockerImage,
			Tag:          version,
			Env:          []string{"POSTGRES_HOST_AUTH_METHOD=trust"},
			Cmd:          append([]string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off"}, settingArguments()...),
			PortBindings: map[docker.Port][]docker.PortBinding{"5432/tcp": {{HostIP: "127.0.0.1"}}},
		},
		func(host *docker.HostConfig) { host.AutoRemove = true },
	)
	if err != nil {
		return server{}, err
	}
	address := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     container.GetHostPort("5432/tcp"),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	pool.MaxWait = dockerStartTimeout
	if err := pool.Retry(func() error { return ping(ctx, address.String()) }); err != nil {
		return server{}, errors.Join(err, container.Close())
	}
	return server{url: address.String(), stop: container.Close}, nil
}

func ping(ctx context.Context, databaseURL string) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
