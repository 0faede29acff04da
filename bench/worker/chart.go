package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/gwsql/gw/bench/internal/stats"
)

// A chart is written into a file of its own.
type chart struct {
	file  string
	title string
	bars  []bar
}

// A bar is a value of a chart.
type bar struct {
	group string
	name  string
	value float64
	ours  bool
}

// Sizes of a chart, in pixels.
const (
	chartWidth = 800
	labelWidth = 300
	barWidth   = 410
	barHeight  = 18
	rowHeight  = 26
)

// chartStyle suits a light page and a dark one.
const chartStyle = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 15px; }
  .group { font-weight: 600; }
  .ours { fill: #0969da; }
  .other { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .ours { fill: #4493f8; }
    .other { fill: #6e7681; }
  }
`

// draw draws horizontal bars as SVG, in groups by their order.
func (c chart) draw() string {
	longest := 0.0
	for _, b := range c.bars {
		longest = max(longest, b.value)
	}
	var body strings.Builder
	y, group := 44, ""
	for _, b := range c.bars {
		if b.group != group {
			group = b.group
			fmt.Fprintf(&body, "<text class=\"group\" x=\"8\" y=\"%d\">%s</text>\n", y+barHeight-4,
				html.EscapeString(group))
			y += rowHeight
		}
		class := "other"
		if b.ours {
			class = "ours"
		}
		length := max(int(barWidth*b.value/longest), 1)
		middle := y + barHeight - 4
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
			labelWidth-8, middle, html.EscapeString(b.name))
		fmt.Fprintf(&body, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/>\n",
			class, labelWidth, y, length, barHeight)
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\">%s</text>\n", labelWidth+length+6, middle, stats.Number(b.value))
		y += rowHeight
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\" "+
		"role=\"img\">\n<title>%[3]s</title>\n<style>%[4]s</style>\n<text class=\"title\" x=\"8\" y=\"24\">%[3]s</text>\n%[5]s</svg>\n",
		chartWidth, y+10, html.EscapeString(c.title), chartStyle, body.String())
}
