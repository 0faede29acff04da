package interleave

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	modelCalls = flag.Int("model.calls", 300, "how many `calls` the model is compared with")
	modelSeed  = flag.Uint64("model.seed", 1, "the first `seed` of these calls")
)

// callsOfAHistory is after how many calls the tables are emptied.
const callsOfAHistory = 60

func TestTheModelAnswersAsTheFunctionsDo(t *testing.T) {
	url := pgtest.Database(t)
	conn := connect(t, url)
	if _, err := run(t.Context(), conn, servingSince+"; create schema interleave;"+emptyFunction); err != nil {
		t.Fatal(err)
	}
	made, kinds := 0, make(map[string]int)
	for seed := *modelSeed; made < *modelCalls; seed++ {
		c := &comparison{conn: conn, draw: drawer{rand.New(rand.NewPCG(seed, 0)), new([]operation)}}
		if err := c.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range callsOfAHistory {
			op := c.draw.operation(c.s)
			if err := c.make(t.Context(), op); err != nil {
				t.Fatalf("seed %d: %v\nafter\n%s", seed, err, strings.Join(c.trace, "\n"))
			}
			made++
			kinds[strings.TrimPrefix(fmt.Sprintf("%T", op), "interleave.")]++
		}
	}
	t.Logf("%d calls: %v", made, kinds)
}

// comparison makes calls in a database, and compares answers and tables with those of the model.
type comparison struct {
	conn  *pgx.Conn
	draw  drawer
	s     *state
	trace []string
}

func (c *comparison) begin(ctx context.Context) (err error) {
	if _, err := run(ctx, c.conn, empty+warm); err != nil {
		return err
	}
	if c.s, err = readState(ctx, c.conn); err != nil {
		return err
	}
	for _, worker := range []string{"w1", "w2", "w9"} {
		if err := c.make(ctx, register{worker, []string{}}); err != nil {
			return err
		}
	}
	return nil
}

// make makes a call, and returns an error if its effect differs from that of the model.
func (c *comparison) make(ctx context.Context, op operation) error {
	times, err := run(ctx, c.conn, "begin; select "+moments("now()")+", "+moments("clock_timestamp()"))
	if err != nil {
		return err
	}
	var e env
	if _, err := fmt.Sscanf(times, "%d|%d", &e.now, &e.clock); err != nil {
		return err
	}
	answered, err := run(ctx, c.conn, op.sql())
	end := "commit"
	if err != nil {
		answered, end = failure(err), "rollback"
	}
	after, err := run(ctx, c.conn, end+"; select "+moments("clock_timestamp()"))
	if err != nil {
		return err
	}
	var until moment
	if _, err := fmt.Sscan(after, &until); err != nil {
		return err
	}
	got, err := readState(ctx, c.conn)
	if err != nil {
		return err
	}

	was := c.s.clone()
	meant := op.apply(c.s, e).String()
	c.trace = append(c.trace, op.sql())
	if answered = strings.TrimSuffix(answered, "\n"); answered != meant {
		return fmt.Errorf("%s\nanswers\n%s\ninstead of\n%s", op.sql(), answered, meant)
	}
	c.s.ReadAt = got.ReadAt
	adoptCounts(c.s, got, e.clock)
	adopt(reflect.ValueOf(c.s).Elem(), reflect.ValueOf(got).Elem(), e.clock, until)
	if difference := differences(got, c.s); difference != "" {
		return fmt.Errorf("%s\n%sinstead of what the model says; before\n%s", op.sql(), difference, show(was))
	}
	return nil
}

// adoptCounts sets the times of queues that count the jobs of a claim, by the locked_at of these jobs in the tables.
func adoptCounts(model, got *state, clock moment) {
	for name, q := range model.Queues {
		if q.LockedAt >= clock || q.LockedAt <= clock-mostOfQueue {
			continue
		}
		for id, j := range model.Jobs {
			if j.Queue == name && j.LockedAt == clock && got.Jobs[id] != nil {
				q.LockedAt += got.Jobs[id].LockedAt - clock
				break
			}
		}
	}
}

// adopt sets each time that the model took from the clock, or counted from it, to the one in the tables, if that was
// read during the call.
func adopt(model, got reflect.Value, clock, until moment) {
	switch model.Kind() {
	case reflect.Pointer:
		adopt(model.Elem(), got.Elem(), clock, until)
	case reflect.Struct:
		for i := range model.NumField() {
			adopt(model.Field(i), got.Field(i), clock, until)
		}
	case reflect.Map:
		for _, key := range model.MapKeys() {
			if value := model.MapIndex(key); value.Kind() == reflect.Pointer && got.MapIndex(key).IsValid() {
				adopt(value, got.MapIndex(key), clock, until)
			}
		}
	case reflect.Int64:
		for _, later := range []moment{0, debounceWait, debounceMost, onceWithin} {
			if m, ok := model.Interface().(moment); ok && m == clock+later && got.Int() >= int64(m) &&
				got.Int() <= int64(until+later) {
				model.SetInt(got.Int())
				return
			}
		}
	}
}

// differences returns the rows in which two states differ.
func differences(got, want *state) string {
	var b strings.Builder
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		if g.Field(i).Kind() != reflect.Map {
			if g.Field(i).Interface() != w.Field(i).Interface() {
				fmt.Fprintf(&b, "%s: %v, want %v\n", g.Type().Field(i).Name, g.Field(i), w.Field(i))
			}
			continue
		}
		keys := make(map[any]reflect.Value)
		for _, key := range append(g.Field(i).MapKeys(), w.Field(i).MapKeys()...) {
			keys[key.Interface()] = key
		}
		for _, key := range keys {
			if a, b2 := row(g.Field(i), key), row(w.Field(i), key); a != b2 {
				fmt.Fprintf(&b, "%s %v:\n  %s, want\n  %s\n", g.Type().Field(i).Name, key, a, b2)
			}
		}
	}
	return b.String()
}

func row(rows, key reflect.Value) string {
	value := rows.MapIndex(key)
	if !value.IsValid() {
		return "none"
	}
	return show(value.Interface())
}

func show(value any) string {
	text, _ := json.Marshal(value)
	return strings.ReplaceAll(string(text), "null", "[]") // an empty array
}
