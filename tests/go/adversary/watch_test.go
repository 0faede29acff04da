package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

const (
	longestCall  = 5 * time.Second
	commandTime  = 20 * time.Second
	keptHostile  = 3000 // jobs that are left to pile up
	quietEvery   = 10 * time.Second
	canaryEvery  = 500 * time.Millisecond
	doctorEvery  = 2 * time.Second
	commandEvery = 2 * time.Second
	tidyEvery    = 5 * time.Second
)

// watch checks all rules until the context ends.
func (tr *trial) watch(ctx context.Context) {
	var looks sync.WaitGroup
	every := func(d, first time.Duration, look func() error) {
		looks.Go(func() {
			for sleep(ctx, first); ctx.Err() == nil; sleep(ctx, d) {
				if err := look(); err != nil && tr.ctx.Err() == nil {
					tr.violate(operatorsCan, "%v", err)
				}
			}
		})
	}
	every(100*time.Millisecond, 0, func() error { tr.judge(); return nil })
	every(canaryEvery, 0, tr.lookAtCanary)
	every(canaryEvery, 0, func() error { tr.weigh(); return nil })
	every(doctorEvery, time.Second, tr.askDoctor)
	every(commandEvery, time.Second, tr.operate)
	every(tidyEvery, tidyEvery, tr.tidy)
	every(quietEvery, tr.firstQuiet, tr.beQuiet)
	looks.Wait()
}

func (tr *trial) judge() {
	if late := tr.honest.judge(tr.control); len(late) > 0 && tr.ctx.Err() == nil {
		tr.violate(honestJobsStart, "%s; %d jobs in all\n%s", late[0], len(late), tr.waiting())
	}
	tr.control.judge(tr.control)
}

// waiting describes the existing honest jobs in the database, and which sessions wait for which others.
func (tr *trial) waiting() string {
	var found string
	err := tr.server.QueryRow(tr.ctx, `
		select concat_ws(E'\n',
		         now(),
		         (select string_agg(concat_ws(' ', j.id, t.identifier, j.payload, 'run_at', j.run_at, 'made', j.created_at, 'locked', j.locked_at, j.locked_by,
		                                      'xmax', j.xmax, 'queue', q.queue_name, q.locked_at, q.locked_by, 'xmax', q.xmax), E'\n' order by j.run_at)
		            from graphile_worker._private_jobs as j
		            join graphile_worker._private_tasks as t on t.id = j.task_id
		            left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
		           where t.identifier ~ '^honest' or q.queue_name ~ '^honest'),
		         (select string_agg(concat_ws(' ', a.application_name, a.usename, a.backend_xid, a.state, a.wait_event, pg_blocking_pids(a.pid)::text,
		                                      clock_timestamp() - a.xact_start, left(a.query, 200)), E'\n' order by a.xact_start)
		            from pg_stat_activity as a
		           where a.datname = current_database() and a.xact_start is not null))`).Scan(&found)
	if err != nil {
		return err.Error()
	}
	return found
}

func (tr *trial) lookAtCanary() error {
	now, err := tr.canary.look(tr.ctx, tr.owner)
	if err != nil {
		return fmt.Errorf("look at what nobody may change: %w", err)
	}
	if now != tr.before {
		before, after := strings.Split(tr.before, "\n"), strings.Split(now, "\n")
		tr.violate(nothingIsTouched, "it was:\n%s\nand is:\n%s", without(before, after), without(after, before))
	}
	return nil
}

// without returns the lines that are not in the other text.
func without(lines, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(lines),
		func(line string) bool { return slices.Contains(others, line) }), "\n")
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+)`)

// weigh reads the maximum memory of gw-run. Without /proc it reads nothing.
func (tr *trial) weigh() {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tr.program.command.Process.Pid))
	if found := peakLine.FindSubmatch(status); found != nil {
		if kB, _ := strconv.Atoi(string(found[1])); kB > tr.mostMemory {
			tr.violate(memoryIsBounded, "it has had %d kB", kB)
		}
	}
}

func (tr *trial) askDoctor() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(tr.ctx, commandTime)
	defer cancel()
	if _, err := tr.owner.Exec(ctx, "select * from graphile_worker.doctor()"); err != nil {
		return fmt.Errorf("doctor(): %w", err)
	}
	if lasted, slack := time.Since(began), tr.control.worst(began, time.Now()); lasted-slack > longestCall {
		return fmt.Errorf("doctor() took %s", lasted)
	}
	return nil
}

// operate runs the commands of an operator one after the other.
func (tr *trial) operate() error {
	commands := []string{"stats", "doctor", "jobs", "tasks", "queues", "workers"}
	name := commands[tr.commands%len(commands)]
	tr.commands++
	ctx, cancel := context.WithTimeout(tr.ctx, commandTime)
	defer cancel()
	output, err := exec.CommandContext(ctx, pgtest.Program(tr.t, "gw-run"), name, "-c", tr.as("admin"), "--schema",
		"graphile_worker_api").CombinedOutput()
	var exit *exec.ExitError
	if name == "doctor" && errors.As(err, &exit) && exit.ExitCode() == 1 && ctx.Err() == nil {
		err = nil // it has found something
	}
	if err != nil {
		return fmt.Errorf("gw-run %s: %w\n%s", name, err, shorten(string(output)))
	}
	return nil
}

// tidy deletes hostile jobs, so that the table does not grow during a long run.
func (tr *trial) tidy() error {
	_, err := tr.owner.Exec(tr.ctx, `
		delete from graphile_worker._private_jobs as j
		 where j.id in (select o.id
		                  from graphile_worker._private_jobs as o
		                  join graphile_worker._private_tasks as t on t.id = o.task_id
		                 where t.identifier !~ '^(honest|canary)' and o.job_queue_id is null
		                 order by o.id desc
		                offset $1
		                   for update of o skip locked)`, keptHostile)
	return err
}
