package adversary

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// trial is one run: a queue with its workers and honest jobs, the attackers, and a second queue on the same server that
// is not attacked: the control, which shows how late jobs are because of the machine.
type trial struct {
	*database
	t       *testing.T
	seed    uint64
	journal journal
	log     transcript // of the worker in this process

	honest, control *punctuality
	program         *gwRun
	canary

	gate sync.RWMutex // held by the watch for a quiet moment, shared by who calls

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	broken *violation

	mostMemory int           // of gw-run, in kB
	firstQuiet time.Duration // until the first quiet moment

	quietMoments, commands int
}

func newTrial(t *testing.T, seed uint64) *trial {
	t.Helper()
	tr := &trial{t: t, seed: seed, database: newDatabase(t), mostMemory: 150 << 10, firstQuiet: 8 * time.Second}
	tr.journal = journal{began: time.Now(), answers: make(map[string]int)}
	tr.ctx, tr.cancel = context.WithCancel(t.Context())
	t.Cleanup(tr.cancel)
	tr.honest, tr.control = newPunctuality(tr.owner, keep), newPunctuality(pgtest.Pool(t, pgtest.Database(t)), 6*keep)
	// Ids of honest jobs are not among the numbers that are tried. A worker that dies has others make room for its
	// jobs, which is a matter for tests/go/recovery.
	pgtest.Exec(t, tr.owner, `
		select setval(pg_get_serial_sequence('graphile_worker._private_jobs', 'id'), 1000000);
		select graphile_worker.set_setting('max_payload', '1048576');
		select graphile_worker.set_setting('dead_after', '4 hours')`)
	tr.canary = newCanary(t, tr.owner)
	var err error
	if tr.program, err = newGwRun(t, t.TempDir(), tr.as("honest"), "--schema", "graphile_worker_api",
		"--no-migrate"); err != nil {
		t.Fatal(err)
	}
	return tr
}

// run attacks for a given time, and returns the first rule that was broken. It calls prepare between the start of the
// workers and the attack.
func (tr *trial) run(lasting time.Duration, prepare func()) *violation {
	controlWorker, err := newGwRun(tr.t, tr.t.TempDir(), tr.control.pool.Config().ConnString())
	if err != nil {
		tr.t.Fatal(err)
	}
	var workers sync.WaitGroup
	employ, dismiss := context.WithCancel(context.Background())
	defer workers.Wait()
	defer dismiss()
	for name, run := range map[string]runner{
		"the worker of pkg/shim": tr.shimWorker,
		"the worker in SQL":      tr.sqlWorker,
		"gw-run":                 func(ctx context.Context) error { return tr.program.run(ctx, tr.started) },
		"the control": func(ctx context.Context) error {
			return controlWorker.run(ctx, func(n int64) { _ = tr.control.start(n) })
		},
	} {
		workers.Go(func() {
			if err := run(employ); err != nil || employ.Err() == nil {
				tr.violate(workersStay, "%s has ended: %v", name, err)
			}
		})
	}
	if !tr.warmUp(employ) {
		return tr.first()
	}
	if prepare != nil {
		prepare()
	}

	var crowd sync.WaitGroup
	calm, calmDown := context.WithTimeout(tr.ctx, lasting)
	defer calmDown()
	known := &knowledge{}
	for n, kind := range kinds {
		p, err := tr.newProducer(calm, n, kind, known)
		if err != nil {
			tr.violate(callsEnd, "%v", err)
			break
		}
		crowd.Go(func() {
			if err := p.attack(calm); err != nil {
				tr.violate(callsEnd, "%v", err)
			}
		})
	}
	var control sync.WaitGroup
	measure, measured := context.WithCancel(tr.ctx)
	defer control.Wait()
	defer measured()
	for _, task := range honestTasks {
		crowd.Go(func() { tr.enqueue(calm, tr.honest, task, &tr.gate) })
		control.Go(func() { tr.enqueue(measure, tr.control, "honest-run", &sync.RWMutex{}) })
	}
	tr.watch(calm)
	crowd.Wait()
	tr.finish()
	return tr.first()
}

// first returns the first rule that was broken.
func (tr *trial) first() *violation {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.broken
}

// warmUp waits until each worker has run a job.
func (tr *trial) warmUp(ctx context.Context) bool {
	for _, stream := range []struct {
		p     *punctuality
		tasks []string
	}{{tr.honest, honestTasks}, {tr.control, []string{"honest-run"}}} {
		for _, task := range stream.tasks {
			if err := stream.p.add(ctx, task); err != nil {
				tr.t.Error(err)
				return false
			}
		}
	}
	for patience := time.Now().Add(overdue); tr.honest.pending()+tr.control.pending() > 0; sleep(tr.ctx,
		10*time.Millisecond) {
		if time.Now().After(patience) || tr.ctx.Err() != nil {
			tr.violate(workersStay, "the workers have not started:\n%s\n%s", &tr.log, tr.program.log)
			return false
		}
	}
	tr.honest.forget()
	tr.control.forget()
	return true
}

// enqueue adds honest jobs of a task until the context ends; the gate may hold it up.
func (tr *trial) enqueue(ctx context.Context, p *punctuality, task string, gate *sync.RWMutex) {
	for ; ctx.Err() == nil; sleep(ctx, interval) {
		gate.RLock()
		err := p.add(tr.ctx, task)
		gate.RUnlock()
		if err != nil && tr.ctx.Err() == nil {
			tr.violate(honestJobsStart, "%v", err)
		}
	}
}

// finish waits for the last honest jobs.
func (tr *trial) finish() {
	for patience := time.Now().Add(overdue); tr.ctx.Err() == nil &&
		tr.honest.pending() > 0; sleep(tr.ctx, 50*time.Millisecond) {
		tr.judge()
		if time.Now().After(patience) {
			tr.violate(honestJobsStart, "%d jobs have not started", tr.honest.pending())
		}
	}
}

// violate records that a rule was broken and ends the trial.
func (tr *trial) violate(r rule, format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.broken == nil {
		tr.broken = &violation{rule: r, detail: fmt.Sprintf(format, args...), at: time.Now()}
		tr.cancel()
	}
}

// describe returns a violation with the calls that led to it.
func (tr *trial) describe(v *violation) string {
	logs := []string{tr.log.String(), tr.program.log.String()}
	return fmt.Sprintf("%s\n%s\nafter %s of -adversary.seed=%d; the last calls were:\n%s\nthe workers said:\n%s",
		strings.ToUpper(string(v.rule)), v.detail, v.at.Sub(tr.journal.began).Round(time.Millisecond), tr.seed,
		tr.journal.tail(v.at), strings.Join(logs, "\n"))
}

// summary returns the counts of the trial.
func (tr *trial) summary() string {
	return fmt.Sprintf("seed %d: %d honest jobs, the latest by %s, %d late with the control (its latest by %s); %d quiet moments, %d commands\n%s",
		tr.seed, tr.honest.done, tr.honest.latest.Round(time.Millisecond), tr.honest.excused,
		tr.control.latest.Round(time.Millisecond),
		tr.quietMoments, tr.commands, tr.journal.summary())
}
