package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/subject"
)

// A crew is the processes of a contender on one database.
type crew struct {
	contender contender
	db        *server.Database
	order     subject.Order
	processes []*process
	dir       string // the folder of their counts
}

// hire starts the processes, which wait for begin. The crew must be dismissed.
func (b *bench) hire(ctx context.Context, db *server.Database, c contender, order subject.Order) (_ *crew, err error) {
	order.URL, order.Concurrency, order.Settings = db.URL(), c.concurrency, c.settings
	k := &crew{contender: c, db: db, order: order}
	defer func() {
		if err != nil {
			k.dismiss()
		}
	}()
	if k.dir, err = os.MkdirTemp("", "gw-counts-"); err != nil {
		return nil, fmt.Errorf("make a folder for counts: %w", err)
	}
	for i := range c.processes {
		order.Counts = filepath.Join(k.dir, fmt.Sprint(i))
		p, err := launch(ctx, c.family, b.programs, order)
		if err != nil {
			return nil, err
		}
		k.processes = append(k.processes, p)
	}
	for _, p := range k.processes {
		if err := p.ready(ctx); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// begin makes all processes begin.
func (k *crew) begin() error {
	for _, p := range k.processes {
		if err := p.tell("go"); err != nil {
			return err
		}
	}
	return nil
}

// dismiss kills the processes that are still running.
func (k *crew) dismiss() {
	for _, p := range k.processes {
		p.kill()
	}
	_ = os.RemoveAll(k.dir) // it only contains counts
}

// status adds up the statuses of the processes; its First is the earliest one.
func (k *crew) status(ctx context.Context) (total subject.Status, err error) {
	for _, p := range k.processes {
		s, err := p.status(ctx)
		if err != nil {
			return total, err
		}
		if s.First != 0 && (total.First == 0 || s.First < total.First) {
			total.First = s.First
		}
		total.Executions += s.Executions
		total.CPU += s.CPU - s.FirstCPU
	}
	return total, nil
}

// reach waits until this number of handlers has begun. It polls less often while the number is far away. watch, if not
// nil, is called with each status; if it returns false the wait ends.
func (k *crew) reach(ctx context.Context, executions int, watch func(subject.Status) bool) (subject.Status, error) {
	begin, progress, before := time.Now(), time.Now(), int64(0)
	for {
		s, err := k.status(ctx)
		if err != nil || s.Executions >= int64(executions) {
			return s, err
		}
		if watch != nil && !watch(s) {
			return s, nil
		}
		if s.Executions > before {
			progress, before = time.Now(), s.Executions
		} else if time.Since(progress) > patience {
			return s, fmt.Errorf("%s: stopped after %d of %d jobs", k.contender.name, s.Executions, executions)
		}
		pause := time.Millisecond
		if s.Executions > 0 {
			rest := time.Duration(float64(time.Since(begin)) * float64(int64(executions)-s.Executions) / float64(s.Executions))
			pause = max(pause, min(rest/2, 100*time.Millisecond))
		}
		time.Sleep(pause)
	}
}

// recent returns the jobs that began last.
func (k *crew) recent(ctx context.Context) ([]int64, error) {
	jobs := []int64{}
	for _, p := range k.processes {
		m, err := p.ask(ctx, "recent")
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, m.Recent...)
	}
	return jobs, nil
}

// settled waits until a query returns true for the jobs that began last, and then until another query returns true for
// all jobs. It returns the time of that. The first query is cheap and the second one is not, especially while it
// returns false.
func (k *crew) settled(ctx context.Context, ofRecent, ofAll string) (at int64, err error) {
	recent, err := k.recent(ctx)
	if err != nil {
		return 0, err
	}
	for _, query := range []struct {
		sql  string
		args []any
	}{{ofRecent, []any{recent}}, {ofAll, nil}} {
		for begin, first := time.Now(), true; ; first = false {
			var done bool
			if err := k.db.Admin.QueryRow(ctx, query.sql, query.args...).Scan(&done); err != nil {
				return 0, fmt.Errorf("%s: %w", query.sql, err)
			}
			if done {
				if query.args != nil || !first {
					at = subject.Now()
				}
				break
			}
			if time.Since(begin) > patience {
				return 0, fmt.Errorf("%s: still not true: %s", k.contender.name, query.sql)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return at, nil
}

// gone waits until no job is left, and returns the time.
func (k *crew) gone(ctx context.Context) (at int64, err error) {
	return k.settled(ctx, k.contender.family.tables.gone, k.contender.family.tables.empty)
}

// stop ends the processes and returns the number of executions of each job.
func (k *crew) stop(ctx context.Context) ([]uint32, error) {
	var err error
	for _, p := range k.processes {
		err = errors.Join(err, p.tell("stop"))
	}
	return k.collect(ctx, err)
}

// collect waits for the end of the processes and adds up their counts.
func (k *crew) collect(ctx context.Context, err error) ([]uint32, error) {
	counts := make([]uint32, k.order.Jobs)
	for i, p := range k.processes {
		err = errors.Join(err, p.stopped(ctx))
		if err == nil {
			err = addCounts(counts, filepath.Join(k.dir, fmt.Sprint(i)))
		}
	}
	return counts, err
}

// addCounts adds the counts of a file.
func addCounts(counts []uint32, file string) error {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	if len(bytes) != 4*len(counts) {
		return fmt.Errorf("read counts: there are %d bytes for %d jobs", len(bytes), len(counts))
	}
	for i := range counts {
		counts[i] += binary.LittleEndian.Uint32(bytes[4*i:])
	}
	return nil
}

// checkCounts returns an error if a job was not executed as often as it should have been.
func checkCounts(counts []uint32, want uint32) error {
	missing, again, example := 0, 0, 0
	for i, n := range counts {
		switch {
		case n < want:
			missing++
		case n > want:
			again++
		default:
			continue
		}
		if example == 0 {
			example = i + 1
		}
	}
	if missing+again == 0 {
		return nil
	}
	return fmt.Errorf("of %d jobs %d were executed fewer than %d times and %d more often, such as job %d, %d times",
		len(counts), missing, want, again, example, counts[example-1])
}
