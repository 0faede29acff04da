package gwprom_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/shim"
)

func Example() {
	url, drop := pgtest.Example() // an empty queue
	defer drop()
	ctx := context.Background()
	pool, err := shim.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	worker, err := shim.New(pool, shim.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	worker.Handle("greet", func(context.Context, *shim.Job) error { return nil })

	registry := prometheus.NewRegistry()
	metrics, err := gwprom.New(registry)
	if err != nil {
		log.Fatal(err)
	}
	metrics.Watch(worker)
	registry.MustRegister(gwprom.NewQueueCollector(worker.Client(), gwprom.QueueConfig{}))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()

	for range 3 {
		if _, err := worker.Client().Add(ctx, "greet", nil, nil); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := worker.Client().Add(ctx, "another", nil, nil); err != nil {
		log.Fatal(err)
	}
	if err := worker.RunOnce(ctx); err != nil {
		log.Fatal(err)
	}
	response, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "gw_jobs_total") || strings.HasPrefix(line, "gw_queue_depth") {
			fmt.Print(line)
		}
	}
	// Output:
	// gw_jobs_total{outcome="completed",task="greet"} 3
	// gw_queue_depth{state="failed"} 0
	// gw_queue_depth{state="ready"} 1
	// gw_queue_depth{state="running"} 0
	// gw_queue_depth{state="scheduled"} 0
}
