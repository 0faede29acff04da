// Command gw-run runs the jobs of a queue, each with the executable file of its task.
package main

import (
	"context"
	"os"
)

func main() {
	if code, isInit := runAsInit(os.Args[1:], os.Stderr); isInit {
		os.Exit(code)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}
