package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
)

// node is one of a plan, as explain tells it.
type node struct {
	Rows     float64 `json:"Actual Rows"` // of each loop, like those that are removed
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Unjoined float64 `json:"Rows Removed by Join Filter"`
	Plans    []node
}

// rows returns how many rows a plan has met in all its nodes.
func (n node) rows() float64 {
	sum := (n.Rows + n.Filtered + n.Unjoined) * n.Loops
	for _, child := range n.Plans {
		sum += child.rows()
	}
	return sum
}

// counter is a session that counts the rows that the plans of its statements meet, those of functions too.
type counter struct {
	t     *testing.T
	conn  *pgx.Conn
	rows  float64
	most  float64 // of one statement
	whose string  // its text
}

func newCounter(p *play) *counter {
	p.t.Helper()
	c := &counter{t: p.t}
	config := p.conn.Config().Copy()
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		_, text, found := strings.Cut(notice.Message, "plan:\n")
		if !found {
			return
		}
		var explained struct {
			Query string `json:"Query Text"`
			Plan  node
		}
		if err := json.Unmarshal([]byte(text), &explained); err != nil {
			p.t.Errorf("%s: %v", text, err)
		}
		rows := explained.Plan.rows()
		c.rows += rows
		if rows > c.most {
			c.most, c.whose = rows, explained.Query
		}
	}
	var err error
	if c.conn, err = pgx.ConnectConfig(p.t.Context(), config); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.conn.Close(context.WithoutCancel(p.t.Context())) })
	for _, statement := range []string{
		"load 'auto_explain'", "set client_min_messages = log", "set auto_explain.log_min_duration = 0",
		"set auto_explain.log_analyze = on", "set auto_explain.log_timing = off",
		"set auto_explain.log_nested_statements = on", "set auto_explain.log_format = json",
	} {
		c.do(statement)
	}
	return c
}

func (c *counter) do(sql string) {
	c.t.Helper()
	c.rows, c.most, c.whose = 0, 0, ""
	if _, err := c.conn.Exec(c.t.Context(), schema(sql)); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}

// few makes a call, and fails the test if its plans meet more rows.
func (c *counter) few(what, sql string, most int) {
	c.t.Helper()
	c.do(sql)
	c.t.Logf("%s meets %.0f rows of %d", what, c.rows, most)
	if c.rows > float64(most) {
		c.t.Errorf("%s meets %.0f rows, want at most %d; %.0f are of\n%s", what, c.rows, most, c.most, c.whose)
	}
}

// Plans that a session has made while there was hardly a row are used as long as it lives. When there are many rows
// they must meet few: a claim and ends some for each job, a heartbeat and a change of limits some for each key and job.
func TestPlansThatWereMadeOnEmptyTablesReadFewRows(t *testing.T) {
	const keys, waiting = 1000, 3000
	tables := []string{"_private_jobs", "_gw_limits", "_gw_gates", "_gw_lanes", "_gw_gate_ends", "_gw_queued_lanes"}
	for name, c := range map[string]struct {
		limit    string
		analyzed bool // while there was a row
		shared   bool // with another limit
	}{
		"keys": {"max_running => %d", false, true}, "keys, analyzed": {"max_running => %d", true, false},
		"fair keys":           {"max_running => %d, fair => true", false, false},
		"fair keys, analyzed": {"max_running => %d, fair => true", true, true},
		"a total and a rate":  {"max_running => %d, total_running => 3000, rate => 100, per => '1 s'", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			if c.shared {
				p.do("select gw.set_limit('shared', tasks => '{a}', max_running => 3000)")
			}
			for _, table := range tables {
				p.do("alter table gw." + table + " set (autovacuum_enabled = false)")
			}
			session := newCounter(p)
			claim := func(most int) string {
				return fmt.Sprintf("select id from gw.get_job_batch('w', '{a}', %d)",
					most)
			}
			complete := func(most int) string {
				ids := pgtest.Value[string](t, p.pool,
					schema("select array(select id from gw._private_jobs where locked_by = 'w' order by id limit $1)::text"), most)
				return fmt.Sprintf("select gw.complete_job_batch('w', '%s')", ids)
			}
			limit := func(n int) string { // each with another number and other tasks, so that running jobs get other lanes
				return fmt.Sprintf("select gw.set_limit('l', tasks => '{a,%c}', by => 'payload:c', %s)", 'b'+rune(n),
					fmt.Sprintf(c.limit, 2+n))
			}
			const heartbeat = "select gw.heartbeat('w')"
			p.do(limit(0), "select gw.register_worker('w')")
			for n := range 6 {
				p.do(`select gw.add_job('a', '{"c":"first"}') from generate_series(1, 4)`,
					`select gw.add_job('a', '{"c":"first"}', 'q')`)
				for _, call := range []string{claim(10), limit(n % 2), complete(1), heartbeat, claim(10), complete(9)} {
					session.do(call)
				}
				p.drain("w")
				for _, table := range tables {
					if n == 0 && c.analyzed {
						p.do("vacuum analyze gw." + table)
					}
				}
			}
			p.do(fmt.Sprintf(`select count(*) from gw.add_jobs(array(
				select row('a', json_build_object('c', n %% %d), null, now() - interval '1 hour', null, null, null, null)::gw.job_spec
				  from generate_series(1, %d) as n))`, keys, waiting))
			session.few("the first claim", claim(1000), waiting*300) // puts many jobs into lanes
			session.few("the end of 990", complete(990), 990*60)
			session.few("a claim that counts 500 ends", claim(10), 500*60)
			session.few("another one", claim(10), 500*60)
			for range 3 {
				session.few("the end of 5", complete(5), 5*60)
				session.few("a claim of 10", claim(10), 10*600)
				session.few("a claim of 1", claim(1), 3500)
			}
			session.few("a claim of 500", claim(500), 500*300)
			for n := range 2 {
				session.few("a heartbeat", heartbeat, (keys+waiting)*20)
				session.few("a change of the limit", limit(3+n), (keys+waiting)*25)
				session.few("a claim under it", claim(100), waiting*30)
				session.few("the end of 100", complete(100), 100*60)
			}
		})
	}
}
