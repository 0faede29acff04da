package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shard"
	"github.com/gwsql/gw/pkg/shim"
)

// RunShards is [Run] for several databases: one worker for each shard, all of which share the job slots. The home shard is
// served first; the workers of the others are visitors, see [shim.Config]. A shard that cannot be reached is tried again until
// ctx ends, and does not affect the others.
func RunShards(ctx, hard context.Context, o Options) error {
	if err := o.checkShards(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &fleet{o: &o, id: "gw-" + strings.ToLower(rand.Text()[:18]), slots: shim.NewSlots(o.Jobs), cancel: cancel}
	defer f.close()
	if err := f.open(ctx); err != nil {
		return err
	}
	f.home = f.chooseHome(ctx)
	for _, m := range f.members {
		m.become(f.home)
	}
	o.Logger.Info("home shard chosen", "home", f.home, "shards", o.Shards.Names())
	web := &web{}
	web, err := web.start(&o, f, f.pingHome)
	if err != nil {
		return err
	}
	defer web.close()
	f.web = web
	defer context.AfterFunc(ctx, func() { o.Logger.Info("stop requested", "reason", context.Cause(ctx)) })()
	if !o.Once {
		background, end := context.WithCancel(ctx)
		defer end()
		go f.relayReloads(background)
		go f.keepHomes(background)
		go f.keepMoving(background)
	}
	return f.run(ctx, hard)
}

// checkShards refuses options that need a single database.
func (o *Options) checkShards() error {
	switch {
	case o.UI != nil:
		return errors.New("--ui and --shards exclude each other: gw-run ui --shard NAME shows one shard")
	case o.Listen != nil:
		return errors.New("--listen-url and --shards exclude each other: without direct addresses in the map, use --no-listen")
	}
	return nil
}

// fleet is the workers of one process, one for each shard.
type fleet struct {
	o       *Options
	id      string // of the worker at home; those of visitors end with .visitor
	slots   *shim.Slots
	home    string
	web     *web
	cancel  context.CancelCauseFunc
	members []*member
}

// member is the worker of one shard.
type member struct {
	fleet  *fleet
	shard  shard.Shard
	o      Options // those of the process, with what differs by shard
	reload chan os.Signal
	pool   *pgxpool.Pool

	mu      sync.Mutex
	monitor *shardMonitor
	worker  *shim.Worker // nil until the shard was reached
}

func (f *fleet) open(ctx context.Context) error {
	for _, s := range f.o.Shards.Shards {
		config, err := f.o.Connect(s.Connection)
		if err != nil {
			return fmt.Errorf("shard %s: %w", s.Name, err)
		}
		m := &member{fleet: f, shard: s, o: *f.o, reload: make(chan os.Signal, 1)}
		m.o.Pool = config
		m.o.Logger = f.o.Logger.With("shard", s.Name)
		m.o.Reload = m.reload
		m.o.HTTP = "" // one server serves all
		m.o.slots = f.slots
		if m.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil { // it does not connect yet
			return fmt.Errorf("shard %s: open connection pool: %w", s.Name, err)
		}
		f.members = append(f.members, m)
	}
	return nil
}

func (f *fleet) close() {
	for _, m := range f.members {
		m.pool.Close()
	}
}

// run runs the workers until ctx ends, or with Once until each has no runnable job. An error that another try cannot mend ends
// all of them.
func (f *fleet) run(ctx, hard context.Context) error {
	var running sync.WaitGroup
	problems := make([]error, len(f.members))
	for i, m := range f.members {
		running.Go(func() {
			if err := m.run(ctx, hard); err != nil {
				problems[i] = fmt.Errorf("shard %s: %w", m.shard.Name, err)
				f.cancel(errors.New("a worker has failed"))
			}
		})
	}
	running.Wait()
	if err := errors.Join(problems...); err != nil {
		return stop.Explain(ctx, err)
	}
	return nil
}

// become makes the member serve its shard as the home of the process, or as a visitor.
func (m *member) become(home string) {
	m.o.workerID = m.fleet.id
	m.monitor = newShardMonitor(m.shard.Name == home, m.o.NoListen || m.o.Once)
	if m.shard.Name != home && !m.o.Once {
		m.o.workerID += ".visitor"
		m.o.visitor, m.o.NoListen = true, true
	}
}

// relayReloads passes each request to read the files again to all members.
func (f *fleet) relayReloads(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-f.o.Reload:
			for _, m := range f.members {
				select {
				case m.reload <- s:
				default: // one is pending
				}
			}
		}
	}
}
