package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// explainer is a session that returns the plan of every statement in a call, including those inside functions.
type explainer struct {
	session
	notices []string
}

func (d *database) explainer() *explainer {
	d.t.Helper()
	e := &explainer{session: session{t: d.t, db: d}}
	config, err := pgx.ParseConfig(d.url)
	if err != nil {
		d.t.Fatalf("read the database's URL: %v", err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) { e.notices = append(e.notices, notice.Message) }
	e.conn, err = pgx.ConnectConfig(d.t.Context(), config)
	if err != nil {
		d.t.Fatalf("open a session: %v", err)
	}
	d.t.Cleanup(func() { _ = e.conn.Close(context.Background()) })
	e.exec("load 'auto_explain'")
	e.exec(`
		set client_min_messages = log;
		set auto_explain.log_nested_statements = on;
		set auto_explain.log_analyze = on;
		set auto_explain.log_buffers = on;
		set auto_explain.log_timing = off;
		set auto_explain.log_settings = on;
		set auto_explain.log_format = json;
		set jit = on;
		set jit_above_cost = ` + strconv.Itoa(compileCost) + `;
		set parallel_setup_cost = 100; -- a tenth
		set parallel_tuple_cost = 0.01;
		set min_parallel_table_scan_size = 0;
		set min_parallel_index_scan_size = 0`)
	return e
}

// explain makes a call within the open transaction and returns the plans of its statements, that of the call itself last.
func (e *explainer) explain(sql string, args ...any) []plan {
	e.t.Helper()
	plans := e.explainSlow(0, sql, args...)
	if len(plans) == 0 {
		e.t.Fatalf("%s: no plans in %q", sql, e.notices)
	}
	return plans
}

// explainSlow is explain for the statements that take so many milliseconds.
func (e *explainer) explainSlow(least int, sql string, args ...any) []plan {
	e.t.Helper()
	e.exec("set local auto_explain.log_min_duration = " + strconv.Itoa(least))
	e.notices = nil
	e.exec(sql, args...)
	e.exec("set local auto_explain.log_min_duration = -1") // Only now has the call's own portal ended and logged its plan.
	notices := e.notices
	var plans []plan
	for _, notice := range notices {
		_, text, found := strings.Cut(notice, "plan:\n")
		if !found {
			continue
		}
		p := plan{text: text}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			e.t.Fatalf("read a plan: %v\n%s", err, text)
		}
		plans = append(plans, p)
	}
	return plans
}

// plan is the output of auto_explain for one statement.
type plan struct {
	Plan     planNode          `json:"Plan"`
	Settings map[string]string `json:"Settings"` // those that are not the built-in defaults
	JIT      json.RawMessage   `json:"JIT"`
	text     string
}

// compileCost is a hundredth of jit_above_cost, so that no table that is a hundred times as large has a statement compiled.
const compileCost = 1000

type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Cost     float64    `json:"Total Cost"`
	Rows     float64    `json:"Actual Rows"` // of each loop
	Loops    float64    `json:"Actual Loops"`
	Hit      int        `json:"Shared Hit Blocks"`
	Read     int        `json:"Shared Read Blocks"`
	Children []planNode `json:"Plans"`

	Filtered float64 `json:"Rows Removed by Filter"` // of each loop
	Unjoined float64 `json:"Rows Removed by Join Filter"`
}

// work is the maximum number of rows that a node of the plan handles.
func (n planNode) work() (rows float64) {
	rows = (n.Rows + n.Filtered + n.Unjoined) * n.Loops
	for _, child := range n.Children {
		rows = max(rows, child.work())
	}
	return rows
}

// faults returns each node that reads more than a few rows by an index, and whether JIT compiles the statement, or would compile
// it with more jobs.
func (p plan) faults(rows float64) []string {
	faults := p.Plan.faults(rows)
	if p.JIT != nil {
		faults = append(faults, "is compiled")
	}
	if p.Plan.Cost >= compileCost && p.Settings["jit"] != "off" { // also on a server that cannot compile
		faults = append(faults, fmt.Sprintf("costs %.0f and may be compiled", p.Plan.Cost))
	}
	return faults
}

func (n planNode) faults(rows float64) (faults []string) {
	switch n.Type {
	case "Seq Scan", "Gather", "Gather Merge":
		if slices.Contains([]string{"_gw_settings", "_gw_turns", "_gw_suspects"},
			n.Relation) { // they have a few rows at most
			break
		}
		faults = append(faults, fmt.Sprintf("%s on %s", n.Type, n.Relation))
	case "Bitmap Index Scan":
		if n.Index != "jobs_key_key1" { // By a list of unique keys it finds as few rows as any scan.
			faults = append(faults, fmt.Sprintf("%s on %s", n.Type, n.Index))
		}
	case "Sort", "Incremental Sort", "Hash Join", "Merge Join":
		for _, child := range n.Children {
			if child.Rows*child.Loops > rows {
				faults = append(faults, fmt.Sprintf("%s reads %.0f rows, want %.0f at most", n.Type,
					child.Rows*child.Loops, rows))
			}
		}
	}
	for _, child := range n.Children {
		faults = append(faults, child.faults(rows)...)
	}
	return faults
}

func TestAPlanThatReadsTooMuchHasFaults(t *testing.T) {
	index := planNode{Type: "Index Scan", Rows: 3, Loops: 40}
	for _, c := range []struct {
		node   planNode
		faults int
	}{
		{index, 0},
		{planNode{Type: "Seq Scan", Relation: "_private_jobs"}, 1},
		{planNode{Type: "Gather", Children: []planNode{index}}, 1},
		{planNode{Type: "Limit", Children: []planNode{{Type: "Bitmap Heap Scan",
			Children: []planNode{{Type: "Bitmap Index Scan"}}}}}, 1},
		{planNode{Type: "Sort", Children: []planNode{index}}, 1},
		{planNode{Type: "Sort", Children: []planNode{{Type: "Index Scan", Rows: 100, Loops: 1}}}, 0},
		{planNode{Type: "Hash Join", Children: []planNode{{Type: "Hash", Rows: 1, Loops: 1}, index}}, 1},
	} {
		if faults := (plan{Plan: c.node}).faults(100); len(faults) != c.faults {
			t.Errorf("%s: faults %v, want %d", c.node.Type, faults, c.faults)
		}
	}
	for _, c := range []struct {
		plan   plan
		faults int
	}{
		{plan{Plan: planNode{Cost: 999}}, 0},
		{plan{Plan: planNode{Cost: 1001}}, 1},
		{plan{Plan: planNode{Cost: 1001}, Settings: map[string]string{"jit": "off"}}, 0},
		{plan{JIT: json.RawMessage("{}")}, 1},
	} {
		if faults := c.plan.faults(100); len(faults) != c.faults {
			t.Errorf("cost %.0f: faults %v, want %d", c.plan.Plan.Cost, faults, c.faults)
		}
	}
}
