package shim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

func ExampleConfig_cron() {
	digest, err := crontab.DailyAt("send_digest", 8, 0, &crontab.Options{TimeZone: "Europe/Berlin"})
	if err != nil {
		log.Fatal(err)
	}
	config := shim.Config{
		Cron: []crontab.Source{digest, crontab.Text("*/10 * * * * sync_metrics ?fill=1h"), crontab.File("testdata/crontab")},
	}
	worker, _, done := exampleWorker(config)
	defer done()
	worker.Handle("send_digest", func(context.Context, *shim.Job) error { return nil })

	ctx, stop := context.WithCancel(context.Background())
	shim.On(worker, func(e shim.CronStarting) {
		fmt.Println("looks after", e.Items, "recurring jobs")
		stop()
	})
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: looks after 4 recurring jobs
}
