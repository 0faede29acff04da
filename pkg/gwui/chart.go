package gwui

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/seconds"
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

// The size of a chart in its own units.
const (
	chartWidth  = 400.0
	chartHeight = 80.0
	mostSamples = 90
)

// chart is lines over time, drawn by the template as SVG.
type chart struct {
	Title string
	Most  string // the value at the top
	Lines []chartLine
	From  string // what its left end is called
}

// chartLine is one of them, as the attribute d of a path.
type chartLine struct{ Name, Class, Path, Last string }

// charts is what the panel of charts shows.
type chartsData struct {
	Over    string
	Spans   []string
	Charts  []chart
	Samples []sample
	Now     time.Time
}

func (c *Console) charts(ctx context.Context, over string) (chartsData, error) {
	span, ok := spans[over]
	if !ok {
		over, span = "hour", spans["hour"]
	}
	found, err := readCached[sample](ctx, c, "samples "+over,
		`select s.* from S.list_samples($1::text::interval, $2::integer) as s order by s.at`, span.interval, mostSamples)
	if err != nil {
		return chartsData{}, err
	}
	d := chartsData{Over: over, Spans: []string{"hour", "day", "week"}, Samples: found.Rows, Now: found.Now}
	plot := plotter{samples: found.Rows, from: found.Now.Add(-span.length), length: span.length}
	from := "1 " + over + " ago"
	d.Charts = []chart{
		plot.chart("Waiting jobs", from, amount,
			series{"ready", "a", func(s sample) float64 { return float64(s.Ready) }}),
		plot.chart("Oldest ready job", from, func(v float64) string { return lasting(seconds.Duration(v)) },
			series{"due for", "a", func(s sample) float64 { return orNaN(s.Oldest, 0) }}),
		plot.chart("Jobs a second", from, rate,
			series{"added", "a", func(s sample) float64 { return orNaN(s.Added, math.NaN()) }},
			series{"gone", "b", func(s sample) float64 { return orNaN(s.Gone, math.NaN()) }}),
		plot.chart("Failed jobs", from, amount,
			series{"failed", "a", func(s sample) float64 { return float64(s.Failed) }}),
	}
	return d, nil
}

func orNaN(v *float64, none float64) float64 {
	if v == nil {
		return none
	}
	return *v
}

// amount formats a number of jobs.
func amount(v float64) string { return thousands(int64(math.Round(v))) }

// rate formats a number per second.
func rate(v float64) string {
	if v > 0 && v < 10 {
		return strconv.FormatFloat(v, 'f', 1, 64)
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

// series is a value of each sample.
type series struct {
	name, class string
	value       func(sample) float64
}

// plotter draws samples of a span of time.
type plotter struct {
	samples []sample
	from    time.Time
	length  time.Duration
}

func (p plotter) chart(title, from string, tell func(float64) string, all ...series) chart {
	most := 0.0
	for _, s := range p.samples {
		for _, line := range all {
			if v := line.value(s); v > most {
				most = v
			}
		}
	}
	c := chart{Title: title, From: from, Most: tell(most)}
	for _, line := range all {
		last := "no sample"
		if n := len(p.samples); n > 0 {
			if v := line.value(p.samples[n-1]); !math.IsNaN(v) {
				last = tell(v)
			}
		}
		c.Lines = append(c.Lines, chartLine{line.name, line.class, p.path(line.value, max(most, 1e-9)), last})
	}
	return c
}

// path returns the line of a value. The line has gaps where there is no value, and where samples are far apart.
func (p plotter) path(value func(sample) float64, most float64) string {
	var b strings.Builder
	var before time.Time
	gap := 3 * max(p.length/mostSamples, time.Minute)
	for _, s := range p.samples {
		v := value(s)
		if math.IsNaN(v) {
			before = time.Time{}
			continue
		}
		x := chartWidth * float64(s.At.Sub(p.from)) / float64(p.length)
		y := chartHeight - (chartHeight-2)*v/most - 1
		step := "L"
		if before.IsZero() || s.At.Sub(before) > gap {
			step = "M"
			fmt.Fprintf(&b, "M%.1f %.1fh0", x, y) // a sample alone is a dot, by its round end
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, x, y)
		before = s.At.Time
	}
	return b.String()
}
