package main

import (
	"fmt"
	"math"
	"slices"
)

// A series is what was measured of one thing, one value a round. NaN stands for a round without a value.
type series []float64

// median returns the middle value, NaN if there is none.
func (s series) median() float64 {
	sorted := s.sorted()
	n := len(sorted)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

func (s series) sum() float64 {
	var sum float64
	for _, v := range s {
		sum += v
	}
	return sum
}

func (s series) sorted() series {
	sorted := slices.DeleteFunc(slices.Clone(s), math.IsNaN)
	slices.Sort(sorted)
	return sorted
}

// over returns the ratio to another series round by round. Its median withstands a machine whose speed drifts, which the
// ratio of the medians does not: what is divided was measured within seconds.
func (s series) over(base series) series {
	var ratios series
	for i := range min(len(s), len(base)) {
		ratios = append(ratios, s[i]/base[i])
	}
	return ratios
}

// spread prints the median, and the range if there is one.
func (s series) spread(format func(float64) string) string {
	sorted := s.sorted()
	switch len(sorted) {
	case 0:
		return "-"
	case 1:
		return format(sorted[0])
	}
	return fmt.Sprintf("%s (%s..%s)", format(sorted.median()), format(sorted[0]), format(sorted[len(sorted)-1]))
}

// ratio prints a ratio's median and range.
func (s series) ratio() string {
	return s.spread(func(v float64) string { return fmt.Sprintf("%.2f", v) })
}

// number prints a median and range with three significant digits or all before the point.
func (s series) number() string { return s.spread(number) }

func number(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case abs >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case abs >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// atMost says whether a budget holds.
func (s series) atMost(budget float64) string { return verdict(s.median() <= budget, s) }

// atLeast says whether a budget holds.
func (s series) atLeast(budget float64) string { return verdict(s.median() >= budget, s) }

func verdict(holds bool, s series) string {
	switch {
	case len(s.sorted()) == 0:
		return "-"
	case holds:
		return "yes"
	}
	return "**no**"
}
