package shim_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

type image struct{ ID int }

type size struct{ Width, Height int }

// A handler returns a result, and the program that adds the job waits for it.
func ExampleAddAndWait() {
	defer database()()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{})
	if err != nil {
		log.Fatal(err)
	}
	shim.HandleResult(worker, "resize", func(_ context.Context, original image, _ *shim.Job) (size, error) {
		return size{Width: 100 * original.ID, Height: 80}, nil
	})
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(running) }()

	client := shim.NewClient(pool, shim.ClientConfig{})
	resized, err := shim.AddAndWait[size](ctx, client, "resize", image{ID: 7}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resized.Width, resized.Height)

	stop()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output: 700 80
}
