package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// dockerVersion is the version of PostgreSQL in Docker, unless another one is asked for.
const dockerVersion = "17"

// dockerServer starts a server in a Docker container with the program in the folder docker. It must run in the root of the
// repository.
func dockerServer(version string, log io.Writer) source {
	args := append([]string{"go", "run", "-C", "tests/go/testserver/docker", ".", version}, settingsList()...)
	return func(ctx context.Context) (server, error) { return programServer(ctx, log, args...) }
}

// programServer starts a program that prints the URL of a server and stops it when its standard input ends.
func programServer(ctx context.Context, log io.Writer, args ...string) (server, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return server{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return server{}, err
	}
	if err := cmd.Start(); err != nil {
		return server{}, fmt.Errorf("start PostgreSQL in Docker: %w", err)
	}
	line, readErr := bufio.NewReader(stdout).ReadString('\n')
	stop := func() error {
		_ = stdin.Close() // the program may have ended already
		return cmd.Wait()
	}
	if readErr != nil {
		return server{}, fmt.Errorf("start PostgreSQL in Docker, see above: %w", stop())
	}
	return server{url: strings.TrimSpace(line), stop: stop}, nil
}
