package history

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	// txLife is the number of calls of the handler after which a worker is stopped at once and replaced by another.
	txLife = 1000

	// deadly is how rarely a job ends its session.
	deadly = 400
)

// effects is the table and the function. The function and the handler fail for each number that ends with 0. The
// worker's name is that of its sessions.
var effects = fmt.Sprintf(`
	create table effects (
	  number bigint not null, task text not null, worker text not null default current_setting('application_name'),
	  transaction bigint not null default txid_current(), started bigint not null default extract(epoch from clock_timestamp()) * 1000000
	);
	create function note_effect(payload json) returns void language plpgsql as $$
	begin
	  insert into public.effects (number, task) values ((payload ->> 'n')::bigint, 'inside');
	  if random() * %d < 1 then
	    perform pg_terminate_backend(pg_backend_pid());
	  end if;
	  if (payload ->> 'n')::bigint %% 10 = 0 then
	    raise exception 'failed';
	  end if;
	end;
	$$`, deadly)

// flood adds many jobs of one of these tasks at once, so that the workers have several of them.
func (r *run) flood(ctx context.Context, s *session) error {
	for !r.over() {
		name := pick(s, []string{given, several, inside})
		requests := make([]request, 20+s.IntN(100))
		for i := range requests {
			requests[i] = request{spec: spec{number: r.numbers.Add(1), task: name}, priority: s.IntN(2),
				maxAttempts: 25}
		}
		e, call := addAll(requests, false)
		if err := s.add(ctx, e, call); err != nil {
			return err
		}
	}
	return nil
}

// inTransactions runs these tasks with workers of pkg/shim, one after the other.
func (r *run) inTransactions(ctx context.Context, s *session) error {
	for life := 1; !r.over(); life++ {
		if err := r.txWorker(ctx, s, fmt.Sprintf("tx %d.%d", s.number, life)); err != nil {
			return err
		}
	}
	return nil
}

// txWorker runs one worker, and records the effects of its transactions when they have all ended.
func (r *run) txWorker(ctx context.Context, s *session, id string) error {
	config, err := pgxpool.ParseConfig(r.url)
	if err != nil {
		return fmt.Errorf("read the database's URL: %w", err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = id
	config.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open a pool: %w", err)
	}
	defer pool.Close()
	worker, err := newWorker(pool, id)
	if err != nil {
		return err
	}
	function, err := task.SQL{Function: "public.note_effect"}.Task(ctx, pool, inside)
	if err != nil {
		return err
	}
	calls := make(chan struct{}, txLife)
	give := func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
		select {
		case calls <- struct{}{}:
		default:
			worker.Kill()
		}
		return giveEffect(ctx, tx, job)
	}
	err = worker.SetTasks(function, shim.Task{Name: given, Tx: give}, shim.Task{
		Name: several, Most: 20, ManyTx: func(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
			for _, job := range jobs {
				if err := give(ctx, tx, job); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	if err := r.live(ctx, worker); err != nil {
		return err
	}
	pool.Close()
	r.bury(id)
	return r.recordEffects(ctx, s, id)
}

func giveEffect(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
	_, numbers := numbersIn(string(job.Payload))
	if _, err := tx.Exec(ctx, "insert into effects (number, task) values ($1, $2)", numbers[0],
		job.TaskIdentifier); err != nil {
		return err
	}
	if rand.IntN(deadly) == 0 {
		_, err := tx.Exec(ctx, "select pg_terminate_backend(pg_backend_pid())")
		return err
	}
	if numbers[0]%10 == 0 {
		return errHandler
	}
	return nil
}

// recordEffects waits until the sessions of a worker have ended, and records a claim and a completion for each of its
// effects. The job is known by its number when all requests are known; see nameEffects.
func (r *run) recordEffects(ctx context.Context, s *session, worker string) error {
	for ended := false; !ended; {
		rows, err := s.query(ctx, "select count(*) from pg_stat_activity where application_name = $1", worker)
		if err != nil {
			return err
		}
		ended = string(rows[0][0]) == "0"
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, "select e.number, e.task, e.transaction, e.started from effects as e where e.worker = $1 order by e.started", worker)
	if err != nil {
		return err
	}
	type transaction struct {
		task   string
		number int64
	}
	shared := map[transaction]int{}
	var number int64
	var of transaction
	var started micros
	_, err = pgx.ForEachRow(rows, []any{&number, &of.task, &of.number, &started}, func() error {
		c := row{id: -number, numbers: []int64{number}, task: of.task, attempts: 1, maxAttempts: 25, leasedAt: started}
		for _, e := range []*event{
			{kind: claim, start: started, end: started, rows: []row{c}},
			{kind: complete, start: started, end: now, leases: []lease{{worker, c.id, c.leasedAt}},
				touched: []int64{c.id}},
		} {
			e.session, e.number, e.worker, e.code = s.number, len(s.events)+1, worker, reported
			s.events = append(s.events, e)
		}
		shared[of]++
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the effects of %s: %w", worker, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, jobs := range shared {
		r.counts["effect of "+of.task] += jobs
		if jobs > 1 {
			r.counts["shared transaction of "+of.task]++
		}
	}
	return nil
}
