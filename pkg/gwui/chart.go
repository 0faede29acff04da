package gwui

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
)

// sample is a row of list_samples.
type sample struct {
	At      inspect.Moment `json:"at"`
	Ready   int64          `json:"ready"`
	Running int64          `json:"running"`
	Failed  int64          `json:"failed"`
	Oldest  *float64       `json:"oldest_ready_seconds"`
	Workers int64          `json:"workers"`
	Added   *float64       `json:"added_per_second"`
	Gone    *float64       `json:"gone_per_second"`
}

// span is a span of time of charts.
type span struct {
	Name   string
	length time.Duration
	layout string // of the times below a chart
}

var spans = []span{{"hour", time.Hour, "15:04"}, {"day", 24 * time.Hour, "15:04"}, {"week", 7 * 24 * time.Hour, "2 Jan"}}

// spanOf returns the span of this name, or the first one.
func spanOf(name string) span {
	return spans[max(0, slices.IndexFunc(spans, func(s span) bool { return s.Name == name }))]
}

// asInterval returns a length of time for PostgreSQL.
func asInterval(length time.Duration) string {
	return fmt.Sprintf("%d seconds", int64(length.Seconds()))
}

// The size of a chart in its own units, which browsers stretch.
const (
	chartWidth  = 400.0
	chartHeight = 100.0
	mostSamples = 90
	timesBelow  = 5 // times at the axis
)

// chart is lines over time, drawn by the template as SVG.
type chart struct {
	Title, Unit string
	Most        string
	Y           []string // the values at the axis, from the top
	X           []string // the times at the axis
	Lines       []chartLine
	Spots       []spot // what is told of each time, under the pointer
	Marks       []spot
}

// chartLine is one of them, its values without a neighbor, and the area below it, as the attributes d of paths.
type chartLine struct{ Name, Class, Path, Dots, Area, Last string }

// spot is a place on the axis of time, with a text.
type spot struct {
	X, Width float64
	Text     string
}

type measure struct {
	unit string
	tell func(float64) string
	top  func(most float64) float64 // a round value, also at its half
}

var (
	amounts = measure{"jobs", amount, decimalTop(2)}
	rates   = measure{"jobs a second", rate, decimalTop(.02)}
	lengths = measure{"", func(v float64) string { return elapsed(&v) }, durationTop}
)

// decimalTop returns a function for decimal numbers: the top is not less than least.
func decimalTop(least float64) func(float64) float64 {
	return func(most float64) float64 {
		most = max(most, least)
		unit := math.Pow(10, math.Floor(math.Log10(most)))
		for _, n := range []float64{1, 2, 4, 6, 8} {
			if n*unit >= most {
				return n * unit
			}
		}
		return 10 * unit
	}
}

// durationTop does the same for seconds.
func durationTop(most float64) float64 {
	const minute, hour, day = 60.0, 3600.0, 86400.0
	for _, top := range []float64{.002, .004, .01, .02, .04, .1, .2, .4, 1, 2, 4, 10, 20, 40, 2 * minute, 4 * minute, 10 * minute, 20 * minute,
		40 * minute, 2 * hour, 4 * hour, 12 * hour, day, 2 * day, 4 * day, 10 * day, 20 * day, 40 * day} {
		if top >= most {
			return top
		}
	}
	return decimalTop(1)(most/day) * day
}

// chartsData is what a panel of charts shows.
type chartsData struct {
	Over    string
	Spans   []span
	Charts  []chart
	Samples []sample // of the whole queue, for a table
	Now     time.Time
	IsKept  bool // whether the task whose charts these are is kept
	Task    string
}

// charts returns those of the whole queue.
func (c *Console) charts(ctx context.Context, q *request) (chartsData, error) {
	over := spanOf(q.query.Get("over"))
	found, err := readCached[sample](ctx, c, "samples "+over.Name,
		`select s.* from S.list_samples($1::text::interval, $2::integer) as s order by s.at`, asInterval(over.length), mostSamples)
	if err != nil {
		return chartsData{}, err
	}
	var at []time.Time
	for _, s := range found.Rows {
		at = append(at, s.At.Time)
	}
	p, err := c.newPlotter(ctx, q, over, found.Now, max(over.length/mostSamples, time.Minute), at)
	if err != nil {
		return chartsData{}, err
	}
	of := func(value func(sample) float64) []float64 { return valuesOf(found.Rows, value) }
	return chartsData{Over: over.Name, Spans: spans, Samples: found.Rows, Now: found.Now, Charts: []chart{
		p.chart("Waiting", amounts, series{"ready", of(func(s sample) float64 { return float64(s.Ready) })}),
		p.chart("Oldest ready job", lengths, series{"due for", of(func(s sample) float64 { return orNaN(s.Oldest, 0) })}),
		p.chart("Added and gone", rates, series{"added", of(func(s sample) float64 { return orNaN(s.Added, math.NaN()) })},
			series{"gone", of(func(s sample) float64 { return orNaN(s.Gone, math.NaN()) })}),
		p.chart("Failed", amounts, series{"failed", of(func(s sample) float64 { return float64(s.Failed) })}),
	}}, nil
}

func (c chart) isEmpty() bool {
	return !slices.ContainsFunc(c.Lines, func(l chartLine) bool { return l.Path+l.Dots != "" })
}

// mayTellTimes reports whether the role may read what the charts of a task show.
func (q *request) mayTellTimes() bool { return q.may["list_kept_tasks"] && q.may["task_stats"] }

// jobCharts returns the chart that is above a list of jobs, if one tells of what the filter selects: of a task that is kept,
// or of all jobs that wait or have failed.
func (c *Console) jobCharts(ctx context.Context, q *request, f filter) (d chartsData, err error) {
	title := "Waiting"
	if f.State == "failed" {
		title = "Failed"
	}
	if f.Task != "" {
		title = "Ended"
		d, err = c.taskCharts(ctx, q, f.Task)
	} else if d, err = c.charts(ctx, q); len(d.Samples) == 0 {
		d.Charts = nil
	}
	d.Charts = slices.DeleteFunc(d.Charts, func(c chart) bool { return c.Title != title })
	return d, err
}

// hasChart reports whether jobCharts may have one.
func (q *request) hasChart(f filter) bool {
	switch {
	case !f.isPlain():
		return false
	case f.Task != "":
		return q.mayTellTimes()
	}
	return slices.Contains([]string{"", "ready", "failed"}, f.State) && q.may["list_samples"]
}

func orNaN(v *float64, none float64) float64 {
	if v == nil {
		return none
	}
	return *v
}

func amount(v float64) string { return thousands(int64(math.Round(v))) }

// rate formats a number per second.
func rate(v float64) string {
	if v < 10 {
		text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
		return strings.TrimSuffix(text, ".")
	}
	return amount(v)
}

// thousands formats a number with thin spaces between its thousands.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// series is a value at each time of a plotter, NaN for none.
type series struct {
	name   string
	values []float64
}

// valuesOf returns a value of each row.
func valuesOf[T any](rows []T, value func(T) float64) (all []float64) {
	for _, row := range rows {
		all = append(all, value(row))
	}
	return all
}

// plotter draws values over a span of time.
type plotter struct {
	at     []time.Time
	step   time.Duration // from one to the next
	from   time.Time
	length time.Duration
	zone   *time.Location
	places []string // the times at the axis
	marks  []spot
}

// leastSteps is how many steps the axis of time has at least, if the first value is younger than the span.
const leastSteps = 5

// newPlotter returns one of values at these times for a span that ends now, or for the part of it since the first value,
// with marks for what operators did.
func (c *Console) newPlotter(ctx context.Context, q *request, over span, now time.Time, step time.Duration, at []time.Time) (plotter, error) {
	if now.IsZero() {
		now = time.Now()
	}
	p := plotter{at: at, step: step, length: over.length, zone: cmp.Or(q.zone, time.UTC)}
	if len(at) > 0 {
		p.length = min(over.length, max(now.Sub(at[0]), leastSteps*step))
	}
	p.from = now.Add(-p.length)
	for i := range timesBelow {
		p.places = append(p.places, p.from.Add(p.length*time.Duration(i)/(timesBelow-1)).In(p.zone).Format(over.layout))
	}
	if !q.may["list_audit"] {
		return p, nil
	}
	acts, err := readCached[pastAct](ctx, c, "marks "+over.Name,
		`select a.* from S.list_audit(max_rows => 30, since => pg_catalog.now() operator(pg_catalog.-) $1::text::interval) as a`, asInterval(over.length))
	for _, a := range acts.Rows {
		if !a.At.Before(p.from) {
			p.marks = append(p.marks, spot{X: p.x(a.At.Time), Text: p.tell(a.At.Time) + ": " + a.told()})
		}
	}
	return p, err
}

func (p plotter) x(at time.Time) float64 {
	return chartWidth * float64(at.Sub(p.from)) / float64(p.length)
}

// tell returns a time as text.
func (p plotter) tell(at time.Time) string { return at.In(p.zone).Format("2 Jan 15:04") }

func (p plotter) chart(title string, m measure, all ...series) chart {
	most := 0.0
	for _, line := range all {
		for _, v := range line.values {
			if v > most {
				most = v
			}
		}
	}
	top := m.top(most)
	c := chart{Title: title, Unit: m.unit, Most: m.tell(most), Y: []string{m.tell(top), m.tell(top / 2), "0"}, X: p.places, Marks: p.marks}
	for i, line := range all {
		last := "no value"
		if n := len(line.values); n > 0 && !math.IsNaN(line.values[n-1]) {
			last = m.tell(line.values[n-1])
		}
		path, dots, area := p.path(line.values, top)
		class := string("ab"[i])
		if line.name == "failed" {
			class += " bad"
		}
		c.Lines = append(c.Lines, chartLine{line.name, class, path, dots, area, last})
	}
	width := chartWidth * float64(p.step) / float64(p.length)
	for i, at := range p.at {
		text := p.tell(at)
		for _, line := range all {
			if !math.IsNaN(line.values[i]) {
				text += ", " + line.name + " " + m.tell(line.values[i])
			}
		}
		c.Spots = append(c.Spots, spot{X: p.x(at) - width/2, Width: width, Text: text})
	}
	return c
}

// path returns the line of some values, those without a neighbor, and the area below the line. The line has gaps where
// there is no value, and where times are far apart.
func (p plotter) path(values []float64, top float64) (line, dots, area string) {
	var part strings.Builder // of the line, without a gap
	first, last, n := 0.0, 0.0, 0
	end := func() {
		switch {
		case n == 1:
			dots += "M" + part.String() + "h.1"
		case n > 1:
			line += "M" + part.String()
			area += fmt.Sprintf("M%.1f %.0fL%sL%.1f %.0fz", first, chartHeight, part.String(), last, chartHeight)
		}
		part.Reset()
		n = 0
	}
	var before time.Time
	for i, at := range p.at {
		if math.IsNaN(values[i]) || at.Sub(before) > 3*p.step {
			end()
		}
		if math.IsNaN(values[i]) {
			continue
		}
		if n++; n == 1 {
			first = p.x(at)
		} else {
			part.WriteString("L")
		}
		last, before = p.x(at), at
		fmt.Fprintf(&part, "%.1f %.1f", last, chartHeight-(chartHeight-2)*values[i]/top-1)
	}
	end()
	return line, dots, area
}

// spansOfTask is how many values a chart of a task has.
const spansOfTask = 30

// taskCharts returns those of a task: how many attempts ended, and how long jobs waited and ran, as its history has them.
func (c *Console) taskCharts(ctx context.Context, q *request, name string) (chartsData, error) {
	kept, err := c.keptTasks(ctx)
	over := spanOf(q.query.Get("over"))
	d := chartsData{Over: over.Name, Spans: spans, Task: name,
		IsKept: slices.ContainsFunc(kept.Rows, func(k keptTask) bool { return k.Task == name })}
	if err != nil || !d.IsKept {
		return d, err
	}
	step := over.length / spansOfTask
	found, err := readCached[taskTimes](ctx, c, fmt.Sprintf("charts %s %s", over.Name, name), `
		select s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered,
		       pg_catalog.date_part('epoch', s.waited_p50) as waited_p50, pg_catalog.date_part('epoch', s.waited_p95) as waited_p95,
		       pg_catalog.date_part('epoch', s.ran_p50) as ran_p50, pg_catalog.date_part('epoch', s.ran_p95) as ran_p95
		  from pg_catalog.generate_series(1, $3::integer) as g (n)
		 cross join lateral S.task_stats($1::text,
		         pg_catalog.now() operator(pg_catalog.-) ($2::text::interval operator(pg_catalog.*) (1 operator(pg_catalog.+) $3::integer operator(pg_catalog.-) g.n)),
		         pg_catalog.now() operator(pg_catalog.-) ($2::text::interval operator(pg_catalog.*) ($3::integer operator(pg_catalog.-) g.n)),
		         1000) as s
		 order by g.n`, name, asInterval(step), spansOfTask)
	if err != nil {
		return d, err
	}
	if d.Now = found.Now; d.Now.IsZero() {
		d.Now = time.Now()
	}
	// The steps before the first attempt are left out.
	rows := found.Rows[max(0, slices.IndexFunc(found.Rows, func(t taskTimes) bool { return t.Attempts > 0 })-1):]
	rows = found.Rows[len(found.Rows)-min(len(found.Rows), max(len(rows), leastSteps)):]
	var at []time.Time
	for i := range rows {
		at = append(at, d.Now.Add(-step*time.Duration(len(rows)-i)+step/2))
	}
	p, err := c.newPlotter(ctx, q, over, d.Now, step, at)
	if err != nil {
		return d, err
	}
	of := func(value func(taskTimes) float64) []float64 { return valuesOf(rows, value) }
	perStep := amounts
	perStep.unit = "attempts in " + lasting(step)
	d.Charts = []chart{
		p.chart("Ended", perStep, series{"completed", of(func(t taskTimes) float64 { return float64(t.Completed) })},
			series{"failed", of(func(t taskTimes) float64 { return float64(t.Failures()) })}),
		p.chart("Waited", lengths, series{"p50", of(func(t taskTimes) float64 { return orNaN(t.WaitedP50, math.NaN()) })},
			series{"p95", of(func(t taskTimes) float64 { return orNaN(t.WaitedP95, math.NaN()) })}),
		p.chart("Ran", lengths, series{"p50", of(func(t taskTimes) float64 { return orNaN(t.RanP50, math.NaN()) })},
			series{"p95", of(func(t taskTimes) float64 { return orNaN(t.RanP95, math.NaN()) })}),
	}
	d.Charts = slices.DeleteFunc(d.Charts, chart.isEmpty)
	return d, nil
}
