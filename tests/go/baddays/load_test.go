package baddays

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// load is a producer that keeps adding jobs, one at a time, even if the database returns errors: some in named queues, some with
// keys.
type load struct {
	f     *fleet
	acked []request // the requests that were committed; to be read when the load has stopped
	added atomic.Int64
	full  atomic.Int64 // how many requests failed because the disk was full
	stop  func()
}

// request is a job that was added.
type request struct {
	n   int
	key string
}

// load starts a producer. It uses the fleet's own connections, so that failures of the workers' connections do not affect it.
func (f *fleet) load() *load {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{f: f}
	var producing sync.WaitGroup
	l.stop = sync.OnceFunc(func() {
		cancel()
		producing.Wait()
	})
	f.t.Cleanup(l.stop)
	producing.Go(func() {
		pause := time.NewTicker(4 * time.Millisecond)
		defer pause.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
			r, queue := request{n: n}, ""
			if n%3 == 0 {
				queue = fmt.Sprint("q", n%9)
			}
			if n%5 == 0 {
				r.key = fmt.Sprint("k", n%25)
			}
			err := f.add(r, queue, n%4)
			var refusal *pgconn.PgError
			switch {
			case err == nil:
				l.acked = append(l.acked, r)
				l.added.Add(1)
			case errors.As(err, &refusal) && refusal.Code == "53100":
				l.full.Add(1)
			}
		}
	})
	return l
}

// awaitMore waits until n more jobs were added.
func (l *load) awaitMore(n int64) {
	l.f.t.Helper()
	goal := l.added.Load() + n
	l.f.waitUntil("more jobs to be added", func() bool { return l.added.Load() >= goal }, func() string { return "" })
}

// add adds a job that runs for some milliseconds.
func (f *fleet) add(r request, queue string, milliseconds int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := f.pool.Exec(ctx, `
		select graphile_worker.add_job('work', json_build_object('N', $1::integer, 'Milliseconds', $2::integer),
		                               queue_name => nullif($3, ''), job_key => nullif($4, ''))`,
		r.n, milliseconds, queue, r.key)
	return err
}

// run is one run of a job according to the notes.
type run struct {
	n                  int
	queue, key, worker string
	ended, failed, cut bool
}

// runs returns all runs in the order of their starts.
func (f *fleet) runs() (runs []*run) {
	f.t.Helper()
	open := make(map[string]*run)
	for _, line := range f.notes() {
		fields := strings.Split(line, ",")
		if len(fields) != 5 {
			f.t.Fatalf("unknown note %q", line)
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			f.t.Fatal(err)
		}
		id := fields[1] + " " + fields[4]
		switch fields[0] {
		case "start":
			r := &run{n: n, queue: fields[2], key: fields[3], worker: fields[4]}
			for _, other := range open {
				if r.queue != "" && other.queue == r.queue && !f.excused[other.worker] && !f.paused[r.worker] {
					f.t.Errorf("job %d started in queue %s while %s ran %d of it", n, r.queue, other.worker, other.n)
				}
			}
			open[id] = r
			runs = append(runs, r)
		case "end":
			open[id].ended = true
			delete(open, id)
		case "fail":
			open[id].failed = true
			delete(open, id)
		case "cut":
			open[id].cut = true
			delete(open, id)
		}
	}
	return runs
}

// account checks that every added job, or a later one with its key, has run to its end; that no job ran twice unless its first
// worker was killed or paused; and that named queues were serial.
func (f *fleet) account(l *load) {
	f.t.Helper()
	l.stop()
	runs := f.runs()
	byNumber := make(map[int][]*run)
	newest := make(map[string]int) // number of the newest ended job by key
	for _, r := range runs {
		byNumber[r.n] = append(byNumber[r.n], r)
		if r.ended {
			newest[r.key] = max(newest[r.key], r.n)
		}
	}
	lost, twice := 0, 0
	for _, r := range l.acked {
		done := slices.ContainsFunc(byNumber[r.n], func(r *run) bool { return r.ended })
		if !done && (r.key == "" || newest[r.key] < r.n) {
			lost++
			f.t.Errorf("job %d was lost (key %q)", r.n, r.key)
		}
	}
	for n, of := range byNumber {
		for _, r := range of[:len(of)-1] {
			if r.failed {
				continue
			}
			twice++
			startsLate := slices.ContainsFunc(of, func(r *run) bool { return f.paused[r.worker] })
			if !f.excused[r.worker] && !startsLate {
				f.t.Errorf("job %d ran %d times, first by %s, which was neither killed nor paused (ended %t, interrupted %t)", n, len(of), r.worker, r.ended, r.cut)
			}
		}
	}
	f.t.Logf("%d jobs added, %d runs, %d lost, %d run again", len(l.acked), len(runs), lost, twice)
}
