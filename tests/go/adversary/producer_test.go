package adversary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// callTimeout is the statement_timeout of hostile sessions. That a call of theirs lasts is their own loss.
	callTimeout = 5 * time.Second
	// pace is the pause after each conversation.
	pace = 15 * time.Millisecond
	// holding is how long a transaction is kept open for nothing.
	holding = 1500 * time.Millisecond
	// perSession is how many conversations a session has.
	perSession = 50
)

// producer is a hostile session of one kind of role.
type producer struct {
	*trial
	kind      string
	generator generator
	may       []function
	known     *knowledge
	conn      *pgx.Conn

	// shares is set for a call that adds a job to a queue of honest jobs. A transaction that changes the next job of a
	// queue holds up the queue until it ends, so no role learns the id of such a job, and it has no key.
	shares bool
}

func (tr *trial) newProducer(ctx context.Context, n int, kind string, known *knowledge) (*producer, error) {
	may, err := catalogue(ctx, tr.owner, tr.roles[kind])
	if err != nil {
		return nil, fmt.Errorf("list the functions: %w", err)
	}
	if len(may) == 0 {
		return nil, fmt.Errorf("the role of kind %s may not do anything", kind)
	}
	return &producer{trial: tr, kind: kind, known: known, may: may,
		generator: generator{rand.New(rand.NewPCG(tr.seed, uint64(n)))}}, nil
}

// attack makes calls until the context ends, except while the trial pauses all callers.
func (p *producer) attack(ctx context.Context) error {
	defer func() { p.disconnect() }()
	for n := 0; ctx.Err() == nil; n++ {
		p.gate.RLock()
		if n%perSession == 0 {
			p.disconnect()
			if err := p.connect(ctx); err != nil {
				p.gate.RUnlock()
				return unlessOver(ctx, err)
			}
		}
		p.converse(ctx)
		p.gate.RUnlock()
		sleep(ctx, pace)
	}
	return nil
}

// settings are settings that a session may change. Most have no effect on well-written functions.
var settings = []string{
	"set timezone = 'Pacific/Kiritimati'", "set timezone = 'America/St_Johns'", "set datestyle = 'German'",
	"set intervalstyle = 'sql_standard'", "set standard_conforming_strings = off", "set bytea_output = escape",
	"set search_path = ''", "set search_path = graphile_worker_api", "set extra_float_digits = -15",
	"set default_transaction_isolation = 'serializable'", "set default_transaction_isolation = 'repeatable read'",
	"set default_transaction_read_only = on", "set plan_cache_mode = force_generic_plan", "set enable_indexscan = off",
	"set jit_above_cost = 0", "set work_mem = '64kB'", "set client_encoding = 'LATIN1'", "set array_nulls = off",
	"set transform_null_equals = on", "set row_security = off", "set client_min_messages = debug5",
	"set lock_timeout = '10ms'", "set statement_timeout = '50ms'",
}

func (p *producer) connect(ctx context.Context) error {
	config, err := pgx.ParseConfig(p.as(p.kind))
	if err != nil {
		return fmt.Errorf("read the database's URL: %w", err)
	}
	config.RuntimeParams["statement_timeout"] = strconv.FormatInt(callTimeout.Milliseconds(), 10)
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		p.listen(notice.Message + notice.Detail +
			notice.Hint)
	}
	if p.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return fmt.Errorf("connect as %s: %w", p.kind, err)
	}
	if p.generator.odds(2) {
		p.say(ctx, pick(p.generator, settings), anyCode)
	}
	return nil
}

func (p *producer) disconnect() {
	if p.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		_ = p.conn.Close(ctx)
	}
}

// converse makes one call, or a few in a transaction.
func (p *producer) converse(ctx context.Context) {
	g := p.generator
	switch f := pick(g, p.may); {
	case f.plain == "set_setting" || g.odds(10): // an admin may well slow everybody down by a setting
		p.say(ctx, "begin", anyCode)
		p.say(ctx, p.call(f), usualCodes)
		p.say(ctx, "rollback", anyCode)
	case g.odds(10):
		p.say(ctx, "begin", anyCode)
		for range 1 + g.IntN(3) {
			if f = pick(g, p.may); f.plain != "set_setting" {
				p.say(ctx, p.call(f), usualCodes)
			}
		}
		if g.odds(8) {
			sleep(ctx, holding)
		}
		p.say(ctx, "commit", usualCodes)
	default:
		p.say(ctx, p.call(f), usualCodes)
	}
}

// call returns a call of the function with values for some or all of its arguments.
func (p *producer) call(f function) string {
	if f.isView {
		return "select * from " + f.name
	}
	g := p.generator
	p.shares = false
	var given []string
	target := p.target(f)
	for _, a := range f.arguments {
		if p.shares && a.name == "job_key" {
			continue
		}
		must := p.mustBeUsual(f, a) || a.name == target
		if a.hasDefault && !must && (g.odds(3) || target != "" && slices.Contains(targets, a.name)) {
			continue
		}
		value := p.usual(f, a)
		if value == "" || g.odds(6) && !must {
			value = g.edge(a.typ)
		}
		given = append(given, pgx.Identifier{a.name}.Sanitize()+" => "+value)
	}
	verb := "select * from "
	if f.isProcedure {
		verb = "call "
	}
	return verb + f.name + "(" + strings.Join(given, ", ") + ")"
}

// say sends a statement, checks the answer and records claimed jobs.
func (p *producer) say(ctx context.Context, sql string, allowed func(code string) bool) {
	if ctx.Err() != nil || p.conn.IsClosed() {
		return
	}
	note := p.journal.begin(p.kind, sql)
	patient, cancel := context.WithTimeout(ctx, 4*callTimeout)
	defer cancel()
	results := p.conn.PgConn().Exec(patient, sql)
	for results.NextResult() {
		p.read(results.ResultReader())
	}
	err := results.Close()
	var refusal *pgconn.PgError
	switch {
	case err == nil:
		note.end("ok")
	case errors.As(err, &refusal):
		note.end(refusal.Code)
		p.listen(fmt.Sprintf("%+v", *refusal))
		if !allowed(refusal.Code) {
			p.violate(errorsAreOurs, "%s: %s (SQLSTATE %s)\n%s\n%s\n%s", p.kind, shorten(refusal.Message), refusal.Code,
				shorten(refusal.Detail), shorten(refusal.Where), sql)
		}
	case ctx.Err() != nil: // the attack is over
		note.end("cut")
	default:
		note.end(err.Error())
		p.violate(callsEnd, "%s: %v\n%s", p.kind, err, sql)
	}
}

// read checks the result of a statement.
func (p *producer) read(rows *pgconn.ResultReader) {
	idAt, leaseAt := -1, -1
	for i, column := range rows.FieldDescriptions() {
		switch {
		case column.Name == "lease":
			leaseAt = i
		case column.Name == "id", strings.HasPrefix(column.Name, "enqueue"):
			idAt = i
		}
	}
	enqueued := idAt == 0 && len(rows.FieldDescriptions()) == 1
	for rows.NextRow() {
		values := rows.Values()
		for _, value := range values {
			p.listen(string(value))
		}
		var c claim
		if idAt >= 0 && (enqueued || leaseAt >= 0) { // not what a list of all jobs shows
			c.id, _ = strconv.ParseInt(string(values[idAt]), 10, 64)
			if leaseAt >= 0 {
				c.lease, _ = strconv.ParseInt(string(values[leaseAt]), 10, 64)
			}
			if !p.shares {
				p.known.learn(c)
			}
		}
	}
}

// listen checks a text for secrets that only admins may see.
func (p *producer) listen(said string) {
	if p.kind != "admin" && strings.Contains(said, p.secret) {
		p.violate(secretsAreKept, "%s was told: %s", p.kind, shorten(said))
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
