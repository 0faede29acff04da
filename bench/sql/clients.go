package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

// clientsBudgets are the minimum speeds with notify = idle, as multiples of Node's, by the number of clients.
var clientsBudgets = map[int]float64{10: 4, 48: 5}

// clientsScenario adds jobs one by one from many clients whose commits wait for the disk, while one session listens.
func clientsScenario(ctx context.Context, b *bench) error {
	b.Note("pgbench, prepared statements, %s each on a fresh copy with %d jobs, autovacuum off, synchronous_commit on; one session "+
		"listens. No worker is idle.", b.pgbenchTime(), enqueueFilled)
	all, err := b.notifiers(ctx)
	if err != nil {
		return err
	}
	t := report.Table{{"clients", "call", "calls/s", "to bare", "to Node's", "at least", "holds"}}
	for _, clients := range []int{10, 48} {
		speeds := map[string]stats.Series{}
		err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
			for round := range b.Rounds {
				for _, e := range harness.Turns(round, all) {
					speed, err := b.measureClients(ctx, e, clients)
					if err != nil {
						return fmt.Errorf("%s, %d clients: %w", e.name, clients, err)
					}
					speeds[e.name] = append(speeds[e.name], speed)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, e := range all {
			toNode, least, holds := speeds[e.name].Over(speeds["Node's add_job"]), "", ""
			if e.notify == "idle" {
				least, holds = fmt.Sprint(clientsBudgets[clients]), toNode.AtLeast(clientsBudgets[clients])
			}
			t.Add(fmt.Sprint(clients), e.name, speeds[e.name].Number(), speeds[e.name].Over(speeds["bare"]).Ratio(),
				toNode.Ratio(),
				least, holds)
		}
	}
	b.Table(t)
	return nil
}

// notifiers returns the calls to compare: ours with each value of the setting notify, or without it if it does not
// exist.
func (b *bench) notifiers(ctx context.Context) (_ []enqueuer, err error) {
	all := []enqueuer{
		{name: "bare", contender: ours, script: "bare"},
		{name: "bare, no message", contender: ours, script: "bare_insert"},
	}
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	for _, mode := range []string{"always", "idle", "never"} {
		err := db.setNotify(ctx, mode)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "GWSNM" {
			b.Note("There is no setting notify; add_job is measured as it is.")
			all = append(all, enqueuer{name: "add_job", contender: ours, script: "add_job"})
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, enqueuer{name: "add_job, notify " + mode, contender: ours, script: "add_job", notify: mode})
	}
	if b.node.name != "" {
		all = append(all, enqueuer{name: "Node's add_job", contender: b.node, script: "add_job"})
	}
	return all, nil
}

func (db *database) setNotify(ctx context.Context, mode string) error {
	if _, err := db.Admin.Exec(ctx, "select "+queue.Schema+".set_setting('notify', $1)", mode); err != nil {
		return fmt.Errorf("set notify to %s: %w", mode, err)
	}
	return nil
}

func (b *bench) measureClients(ctx context.Context, e enqueuer, clients int) (float64, error) {
	return b.measureEnqueuer(ctx, e, true, pgbench{
		script: e.script, clients: clients, time: b.pgbenchTime(), options: "-c synchronous_commit=on", listen: true,
	})
}

// listen opens a session that listens and reads notifications until it is stopped.
func (db *database) listen(ctx context.Context) (stop func() error, err error) {
	conn, err := db.Server.Connect(ctx, db.Name)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, `listen "jobs:insert"`); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), conn.Close(ctx))
	}
	listening, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { hear(listening, conn) })
	return func() error {
		cancel()
		group.Wait()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return conn.Close(closing)
	}, nil
}

func hear(ctx context.Context, conn *pgx.Conn) {
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return // stopped
		}
	}
}
