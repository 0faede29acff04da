package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// The demo's shop, which goes on until Ctrl-C, so that the console has something to show: orders are paid, confirmed and shipped.
const (
	orderEvery   = time.Second
	outageEvery  = 2 * time.Minute // of the payment provider
	outageFrom   = 20 * time.Second
	outageFor    = 45 * time.Second
	shippingTime = 2500 * time.Millisecond // of a parcel; a carrier takes one at a time, so parcels wait
)

// errOutage is the error of payments while the provider is down.
var errOutage = errors.New("PaymentProviderError: 503 Service Unavailable")

// handleShop registers the tasks of the shop. Payments fail for some time, again and again.
func handleShop(worker *shim.Worker) {
	opened := time.Now()
	worker.Handle("charge_card", func(ctx context.Context, _ *shim.Job) error {
		if since := time.Since(opened) % outageEvery; since >= outageFrom && since < outageFrom+outageFor {
			return errOutage
		}
		return pass(ctx, 200*time.Millisecond)
	})
	worker.Handle("send_receipt", func(ctx context.Context, _ *shim.Job) error { return pass(ctx, 50*time.Millisecond) })
	worker.Handle("ship_order", func(ctx context.Context, _ *shim.Job) error { return pass(ctx, shippingTime) })
	worker.Handle("sales_report", func(ctx context.Context, job *shim.Job) error {
		const pages = 20
		for page := range pages {
			if err := errors.Join(job.Progress(100*float64(page)/pages, fmt.Sprintf("page %d of %d", page+1, pages)), pass(ctx, time.Second)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pass waits for about a time.
func pass(ctx context.Context, about time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(about/2 + rand.N(about)):
		return nil
	}
}

// shopParts are the calls that make what the shop needs, each with the call that removes it.
var shopParts = []struct{ open, close string }{
	{`set_limit('carriers', '{ship_order}', by => 'payload:carrier', max_running => 1)`, `drop_limit('carriers')`},
	{`cron_schedule('sales report', '* * * * *', 'sales_report', job_key => '` + demoKeyPrefix + `report')`, `cron_unschedule('sales report')`},
	{`keep_task('charge_card', '1 hour', payloads => true)`, `stop_keeping_task('charge_card')`},
	{`keep_task('send_receipt', '1 hour')`, `stop_keeping_task('send_receipt')`},
	{`keep_task('ship_order', '1 hour')`, `stop_keeping_task('ship_order')`},
}

// openShop makes what the shop needs: a limit with lanes, a schedule, whose first run is now, and history.
func (s *demoStage) openShop(ctx context.Context) error {
	s.close = s.closeShop
	for _, part := range shopParts {
		if err := s.exec(ctx, "select from S."+part.open); err != nil {
			return fmt.Errorf("open the demo's shop: %w", err)
		}
	}
	if err := s.exec(ctx, "select from S.cron_add_job('sales report')"); err != nil {
		return fmt.Errorf("open the demo's shop: %w", err)
	}
	return nil
}

// trade adds the jobs of an order again and again, until ctx ends. An error ends only this.
func (s *demoStage) trade(ctx context.Context) error {
	for order := 1; ; order++ {
		err := s.exec(ctx, `
			select from (values ('charge_card', 0), ('send_receipt', 1), ('ship_order', 2)) as t (task, seconds)
			 cross join lateral S.add_job(t.task,
			   pg_catalog.json_build_object('order', $1::integer, 'customer', $2::text, 'carrier', $3::text, 'amount', $4::integer),
			   job_key => '`+demoKeyPrefix+`' operator(pg_catalog.||) t.task operator(pg_catalog.||) $1::integer,
			   max_attempts => 4, run_at => pg_catalog.now() operator(pg_catalog.+) pg_catalog.make_interval(secs => t.seconds)) as j`,
			order, oneOf("ada", "barbara", "edsger", "grace", "leslie"), oneOf("north", "north", "north", "south", "express"), 5+rand.N(200))
		if err == nil {
			err = pass(ctx, orderEvery)
		}
		if err != nil {
			return err
		}
	}
}

func oneOf(names ...string) string { return names[rand.N(len(names))] }

// closeShop removes what openShop has made; clear removes the jobs.
func (s *demoStage) closeShop(ctx context.Context) error {
	for _, part := range shopParts {
		if err := s.exec(ctx, "select from S."+part.close); err != nil {
			return fmt.Errorf("close the demo's shop: %w", err)
		}
	}
	return nil
}
