package shim_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// A webhook that is delivered twice charges the order once.
func ExampleClient_AddOnce() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	for range 2 {
		job, err := client.AddOnce(ctx, "charge", map[string]int{"order": 17}, "charge:17", 24*time.Hour, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.ID, job.State, job.IsNew)
	}
	// Output:
	// 1 ready true
	// 1 ready false
}

// Changes of a document that follow each other within five seconds are indexed together, at the latest after a minute.
func ExampleClient_Debounce() {
	defer database()()
	ctx := context.Background()
	pool, err := shim.Open(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	client := shim.NewClient(pool, shim.ClientConfig{})

	for range 3 {
		job, err := client.Debounce(ctx, "index", map[string]int{"document": 5}, "index:5", 5*time.Second, time.Minute, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.ID, job.State)
	}
	// Output:
	// 1 scheduled
	// 1 scheduled
	// 1 scheduled
}
