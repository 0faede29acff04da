package shim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shard"
)

// ErrNoRoute is matched by errors of [Shards] about a call that belongs to no single shard: its queue and its key have
// different slots, and no shard key is given. Nothing was added.
var ErrNoRoute = errors.New("no route to a shard")

// moveTime is how long a call waits for the end of a move of its slot.
const moveTime = 30 * time.Second

// Shards adds jobs to the shard that each belongs to. Its methods may be called from any goroutine.
//
// The slot of a job is that of its ShardKey, otherwise of its QueueName, otherwise of its JobKey; a job without any of these
// goes to any shard. The database checks the slot of each call, so a job never gets into the wrong shard, even if the map is
// old: the call is then repeated where the slot is now. While a slot is being moved, a call waits until its context ends, at
// most half a minute.
//
// A job is committed by the call, in a transaction of its own. [Shards.For] adds jobs in a transaction of the application, if
// its data is in the same shard.
type Shards struct {
	cfg   ClientConfig
	names []string
	pools map[string]*pgxpool.Pool

	mu     sync.Mutex
	places [shard.Count]slotPlace
}

// slotPlace is where a slot is, as far as is known.
type slotPlace struct {
	shard   string
	version int // 0 from the map
}

// NewShards returns the shards of a map. It opens a pool of connections for each, without connecting. Close closes them.
func NewShards(m shard.Map, cfg ClientConfig) (*Shards, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("open shards: %w", err)
	}
	if strings.HasSuffix(cfg.Schema, rolesSuffix) {
		return nil, fmt.Errorf("open shards: %s is a schema for roles: shards need the role that owns the queue, or SQL: enqueue_at()", cfg.Schema)
	}
	s := &Shards{cfg: cfg, pools: make(map[string]*pgxpool.Pool, len(m.Shards))}
	for _, of := range m.Shards {
		config, err := pgxpool.ParseConfig(of.Connection)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("open shard %s: %w", of.Name, err)
		}
		config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
		pool, err := pgxpool.NewWithConfig(context.Background(), config)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("open shard %s: %w", of.Name, err)
		}
		s.names = append(s.names, of.Name)
		s.pools[of.Name] = pool
		for _, slot := range of.Slots.List() {
			s.places[slot] = slotPlace{shard: of.Name}
		}
	}
	return s, nil
}

// Close closes the pools.
func (s *Shards) Close() {
	for _, pool := range s.pools {
		pool.Close()
	}
}

// Names returns the names of the shards, in the order of the map.
func (s *Shards) Names() []string { return append([]string(nil), s.names...) }

// Shard returns a client of one shard, for all that is not about adding jobs, such as [Client.Job] and [Client.Cancel]. Jobs
// that it adds stay in this shard, whatever their slots are. It is nil if there is no such shard.
func (s *Shards) Shard(name string) *Client {
	pool, ok := s.pools[name]
	if !ok {
		return nil
	}
	return NewClient(pool, s.cfg)
}

// ShardJob is a job of a shard.
type ShardJob struct {
	*JobInfo
	Shard string // where it was added; a move of its slot takes it to another one
	Slot  int
}

// ShardKeyedJob is a job of [Shards.AddOnce], [Shards.Debounce] and [Shards.Throttle].
type ShardKeyedJob struct {
	*KeyedJob
	Shard string
	Slot  int
}

// Place is the shard of a shard key, at present.
type Place struct {
	Shard string
	Slot  int

	// Pool is the pool of the shard, for transactions.
	Pool *pgxpool.Pool

	// Client adds jobs with this shard key, whatever queues and keys they have. With a transaction of Pool, as in
	// Client.With(tx), they are committed with it. If the slot has been moved meanwhile, or is being moved, its calls return
	// an error with the code GWSLT or GWSMV, and the transaction is to be repeated with another Place.
	Client *Client
}

// For returns the shard of a shard key, for transactions. It asks no database.
func (s *Shards) For(shardKey string) Place {
	slot := shard.Slot(shardKey)
	name := s.placeOf(slot).shard
	return Place{Shard: name, Slot: slot, Pool: s.pools[name], Client: s.at(name, slot)}
}

// Add adds one job as [Client.Add] does, in its shard. An error that matches [ErrNoRoute] is about its queue and its key.
func (s *Shards) Add(ctx context.Context, task string, payload any, opts *AddOptions) (*ShardJob, error) {
	if opts == nil {
		opts = &AddOptions{}
	}
	r, err := routeOf(opts.ShardKey, opts.QueueName, opts.JobKey)
	if err != nil {
		return nil, fmt.Errorf("add job %q: %w", task, err)
	}
	var job *JobInfo
	at, err := s.do(ctx, r, func(c *Client) (err error) {
		job, err = c.Add(ctx, task, payload, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &ShardJob{JobInfo: job, Shard: at.Shard, Slot: at.Slot}, nil
}

// AddMany adds many jobs as [Client.AddMany] does, by one statement for each slot that occurs. The jobs of one slot are added
// all or none; there is no transaction over shards. After an error, the jobs that were added are in the result, in the place
// of their specs, and the others are nil.
func (s *Shards) AddMany(ctx context.Context, specs []JobSpec) ([]*ShardJob, error) {
	groups, order, err := groupSpecs(specs)
	if err != nil {
		return nil, fmt.Errorf("add jobs: %w", err)
	}
	jobs := make([]*ShardJob, len(specs))
	var problems []error
	for _, r := range order {
		group := make([]JobSpec, len(groups[r]))
		for i, n := range groups[r] {
			group[i] = specs[n]
		}
		var added []*JobInfo
		at, err := s.do(ctx, r, func(c *Client) (err error) {
			added, err = c.AddMany(ctx, group)
			return err
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("jobs of shard %s: %w", at.Shard, err))
			continue
		}
		for i, n := range groups[r] {
			jobs[n] = &ShardJob{JobInfo: added[i], Shard: at.Shard, Slot: at.Slot}
		}
	}
	return jobs, errors.Join(problems...)
}

// groupSpecs returns the indexes of the specs by route, and the routes in order.
func groupSpecs(specs []JobSpec) (groups map[route][]int, order []route, err error) {
	groups = make(map[route][]int)
	for i, spec := range specs {
		r, err := routeOf(spec.ShardKey, spec.QueueName, spec.JobKey)
		if err != nil {
			return nil, nil, fmt.Errorf("specs[%d], of task %q: %w", i, spec.Task, err)
		}
		if groups[r] == nil {
			order = append(order, r)
		}
		groups[r] = append(groups[r], i)
	}
	return groups, order, nil
}

// AddOnce is [Client.AddOnce] in the shard of the job.
func (s *Shards) AddOnce(ctx context.Context, task string, payload any, key string, within time.Duration, opts *AddOptions) (*ShardKeyedJob, error) {
	return s.byKey(ctx, key, opts, func(c *Client) (*KeyedJob, error) { return c.AddOnce(ctx, task, payload, key, within, opts) })
}

// Debounce is [Client.Debounce] in the shard of the job.
func (s *Shards) Debounce(ctx context.Context, task string, payload any, key string, wait, maxWait time.Duration, opts *AddOptions) (*ShardKeyedJob, error) {
	return s.byKey(ctx, key, opts, func(c *Client) (*KeyedJob, error) { return c.Debounce(ctx, task, payload, key, wait, maxWait, opts) })
}

// Throttle is [Client.Throttle] in the shard of the job.
func (s *Shards) Throttle(ctx context.Context, task string, payload any, key string, every time.Duration, opts *AddOptions) (*ShardKeyedJob, error) {
	return s.byKey(ctx, key, opts, func(c *Client) (*KeyedJob, error) { return c.Throttle(ctx, task, payload, key, every, opts) })
}

func (s *Shards) byKey(ctx context.Context, key string, opts *AddOptions, call func(*Client) (*KeyedJob, error)) (*ShardKeyedJob, error) {
	if opts == nil {
		opts = &AddOptions{}
	}
	r, err := routeOf(opts.ShardKey, opts.QueueName, key)
	if err != nil {
		return nil, err
	}
	var job *KeyedJob
	at, err := s.do(ctx, r, func(c *Client) (err error) {
		job, err = call(c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &ShardKeyedJob{KeyedJob: job, Shard: at.Shard, Slot: at.Slot}, nil
}

// Remove removes the job that is waiting under a key, as [Client.Remove] does. shardKey is that of the job, empty if the key
// alone decides its shard.
func (s *Shards) Remove(ctx context.Context, key, shardKey string) (*ShardJob, error) {
	r, err := routeOf(shardKey, "", key)
	if err != nil {
		return nil, err
	}
	var job *JobInfo
	at, err := s.do(ctx, r, func(c *Client) (err error) {
		job, err = c.Remove(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &ShardJob{JobInfo: job, Shard: at.Shard, Slot: at.Slot}, nil
}
