package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/reshard"
	"github.com/gwsql/gw/pkg/shard"
	"github.com/gwsql/gw/pkg/shim"
)

// shards are two shards, a with the slots 0 to 127 and b with the others.
type shards struct {
	t *testing.T
	*shim.Shards
	mover *reshard.Mover
	of    shard.Map
	pools map[string]*pgxpool.Pool
}

func newShards(t *testing.T) *shards {
	t.Helper()
	t.Parallel()
	s := &shards{t: t, pools: make(map[string]*pgxpool.Pool), mover: &reshard.Mover{Logger: slog.New(slog.DiscardHandler)}}
	s.of.Shards = []shard.Shard{
		{Name: "a", Connection: pgtest.Database(t), Slots: shard.Range(0, 127)},
		{Name: "b", Connection: pgtest.Database(t), Slots: shard.Range(128, 255)},
	}
	for _, of := range s.of.Shards {
		d, err := reshard.Connect(t.Context(), of, "graphile_worker")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		s.mover.Databases = append(s.mover.Databases, d)
		s.pools[of.Name] = pgtest.Pool(t, of.Connection)
	}
	if _, err := reshard.Join(t.Context(), s.of, s.mover.Databases); err != nil {
		t.Fatal(err)
	}
	s.Shards = s.open()
	return s
}

// open returns another client with the map as it was in the beginning.
func (s *shards) open() *shim.Shards {
	s.t.Helper()
	client, err := shim.NewShards(s.of, shim.ClientConfig{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// keyIn returns a key of a slot in this range.
func keyIn(first, last int) string {
	for n := 0; ; n++ {
		key := fmt.Sprint("key-", n)
		if slot := shard.Slot(key); slot >= first && slot <= last {
			return key
		}
	}
}

func (s *shards) move(slots shard.Slots, target string) {
	s.t.Helper()
	if moved, err := s.mover.Move(s.t.Context(), slots.List(), target); err != nil || len(moved.Busy) > 0 {
		s.t.Fatalf("moved %+v, error %v", moved, err)
	}
}

func TestAJobGoesToTheShardOfItsKeyQueueOrShardKey(t *testing.T) {
	s := newShards(t)
	low, high := keyIn(0, 127), keyIn(128, 255)
	for _, c := range []struct {
		opts shim.AddOptions
		want string
	}{
		{shim.AddOptions{QueueName: low}, "a"},
		{shim.AddOptions{QueueName: high}, "b"},
		{shim.AddOptions{JobKey: low}, "a"},
		{shim.AddOptions{JobKey: high}, "b"},
		{shim.AddOptions{QueueName: low, JobKey: low}, "a"},
		{shim.AddOptions{QueueName: low, JobKey: high, ShardKey: high}, "b"},
		{shim.AddOptions{ShardKey: low}, "a"},
	} {
		job, err := s.Add(t.Context(), "task", nil, &c.opts)
		if err != nil || job.Shard != c.want {
			t.Errorf("%+v is in %+v, error %v", c.opts, job, err)
			continue
		}
		if _, err := s.Shard(c.want).Job(t.Context(), job.ID); err != nil {
			t.Errorf("%+v: %v", c.opts, err)
		}
	}
	_, err := s.Add(t.Context(), "task", nil, &shim.AddOptions{QueueName: low, JobKey: high})
	if !errors.Is(err, shim.ErrNoRoute) || !strings.Contains(err.Error(), "set ShardKey") {
		t.Errorf("a queue and a key of different slots: %v", err)
	}
	if _, err := s.AddMany(t.Context(), []shim.JobSpec{{Task: "task"}, {Task: "task", AddOptions: shim.AddOptions{QueueName: low, JobKey: high}}}); !errors.Is(err, shim.ErrNoRoute) || !strings.Contains(err.Error(), "specs[1]") {
		t.Errorf("one of them: %v", err)
	}
	once, err := s.AddOnce(t.Context(), "task", nil, "o"+high, time.Hour, &shim.AddOptions{ShardKey: high})
	if err != nil || once.Shard != "b" || !once.IsNew {
		t.Errorf("once: %+v, error %v", once, err)
	}
	if deb, err := s.Debounce(t.Context(), "task", nil, low, time.Hour, 0, nil); err != nil || deb.Shard != "a" {
		t.Errorf("debounced: %+v, error %v", deb, err)
	}
	if thr, err := s.Throttle(t.Context(), "task", nil, high, time.Hour, nil); err != nil || thr.Shard != "b" {
		t.Errorf("throttled: %+v, error %v", thr, err)
	}
	if job, err := s.Remove(t.Context(), low, ""); err != nil || job.Shard != "a" {
		t.Errorf("removed: %+v, error %v", job, err)
	}
	specs := make([]shim.JobSpec, 300)
	for i := range specs {
		specs[i] = shim.JobSpec{Task: "task", Payload: i, AddOptions: shim.AddOptions{JobKey: fmt.Sprint("many-", i)}}
	}
	jobs, err := s.AddMany(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range jobs {
		if job == nil || job.Key != specs[i].JobKey || (job.Shard == "a") != (shard.Slot(job.Key) < 128) {
			t.Errorf("spec %d became %+v", i, job)
		}
	}
}

func TestAnOldMapNeverPutsAJobIntoTheWrongShard(t *testing.T) {
	s := newShards(t)
	low := keyIn(0, 127)
	s.move(shard.Range(0, 127), "b")
	for range 2 { // the first call learns where the slots are
		job, err := s.Add(t.Context(), "task", nil, &shim.AddOptions{JobKey: low})
		if err != nil || job.Shard != "b" {
			t.Fatalf("the job is %+v, error %v", job, err)
		}
	}
	// A slot that went on, and back.
	s.move(shard.Range(0, 255), "a")
	for _, client := range []*shim.Shards{s.Shards, s.open()} {
		if job, err := client.Add(t.Context(), "task", nil, &shim.AddOptions{JobKey: keyIn(128, 255)}); err != nil || job.Shard != "a" {
			t.Errorf("the job is %+v, error %v", job, err)
		}
	}
	if n := pgtest.Value[int](t, s.pools["b"], "select count(*) from graphile_worker.jobs"); n != 0 {
		t.Errorf("%d jobs are in the wrong shard", n)
	}
	// A transaction with an old place.
	stale := s.open().For(keyIn(128, 255))
	err := pgx.BeginFunc(t.Context(), stale.Pool, func(tx pgx.Tx) error {
		_, err := stale.Client.With(tx).Add(t.Context(), "task", nil, nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "GWSLT") {
		t.Errorf("a transaction in the shard that had the slot: %v", err)
	}
	place := s.For(keyIn(128, 255))
	err = pgx.BeginFunc(t.Context(), place.Pool, func(tx pgx.Tx) error {
		_, err := place.Client.With(tx).Add(t.Context(), "task", nil, &shim.AddOptions{JobKey: "in a transaction"})
		return errors.Join(err, errors.New("undo"))
	})
	if _, lost := s.Shard("a").JobByKey(t.Context(), "in a transaction"); !errors.Is(lost, shim.ErrJobNotFound) {
		t.Errorf("a rolled-back job: %v, %v", err, lost)
	}
}

func TestACallWaitsForTheMoveOfItsSlot(t *testing.T) {
	s := newShards(t)
	low := keyIn(0, 127)
	slot := shard.Slot(low)
	pgtest.Exec(t, s.pools["a"], "select graphile_worker._gw_leave_shard_slots(array[$1::integer], 'b')", slot)
	added := make(chan *shim.ShardJob, 1)
	go func() {
		job, err := s.Add(t.Context(), "task", nil, &shim.AddOptions{JobKey: low})
		if err != nil {
			t.Error(err)
		}
		added <- job
	}()
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := s.Add(short, "task", nil, &shim.AddOptions{JobKey: low}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "being moved") {
		t.Errorf("a call whose context ends: %v", err)
	}
	select {
	case job := <-added:
		t.Fatalf("a job was added during the move: %+v", job)
	default:
	}
	if _, err := s.mover.Resume(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if job := receive(t, added); job.Shard != "b" {
		t.Errorf("the job is %+v", job)
	}
}

func TestAWaitFollowsItsJobToAnotherShard(t *testing.T) {
	s := newShards(t)
	job, err := s.Add(t.Context(), "task", nil, &shim.AddOptions{QueueName: keyIn(0, 127)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait(t.Context(), job) }()
	pgtest.Await(t, s.pools["a"], "select exists (select from pg_stat_activity where query like '%job_results%' and datname = current_database() and pid <> pg_backend_pid())")
	s.move(shard.Range(0, 127), "b")
	id := pgtest.Value[int64](t, s.pools["b"], "select graphile_worker.arrived_job('a', $1)", job.ID)
	pgtest.Await(t, s.pools["b"], "select exists (select from pg_stat_activity where query like '%job_results%' and datname = current_database() and pid <> pg_backend_pid())")
	select {
	case err := <-ended:
		t.Fatalf("the wait has ended before the job: %v", err)
	default:
	}
	pgtest.Exec(t, s.pools["b"], "select graphile_worker.permanently_fail_jobs(array[$1::bigint], 'broken')", id)
	var failed *shim.JobFailedError
	if err := receive(t, ended); !errors.As(err, &failed) || failed.LastError != "broken" {
		t.Errorf("the wait returned %v", err)
	}
}

func TestAJobOfAnyShardGoesToOneThatCanBeReached(t *testing.T) {
	t.Parallel()
	of := shard.Map{Shards: []shard.Shard{
		{Name: "a", Connection: pgtest.Database(t), Slots: shard.Range(0, 0)},
		{Name: "dead", Connection: "postgres://127.0.0.1:1/none", Slots: shard.Range(1, 255)},
	}}
	d, err := reshard.Connect(t.Context(), of.Shards[0], "graphile_worker")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if _, err := reshard.Join(t.Context(), of, []*reshard.Database{d}); err != nil {
		t.Fatal(err)
	}
	s, err := shim.NewShards(of, shim.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for range 5 {
		if job, err := s.Add(t.Context(), "task", nil, nil); err != nil || job.Shard != "a" {
			t.Errorf("a job of any shard: %+v, error %v", job, err)
		}
	}
	if _, err := s.Add(t.Context(), "task", nil, &shim.AddOptions{JobKey: keyIn(1, 255)}); err == nil || !strings.Contains(err.Error(), "shard dead: ") {
		t.Errorf("a job of the dead shard: %v", err)
	}
}
