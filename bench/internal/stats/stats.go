// Package stats summarizes the measurements of several rounds.
package stats

import (
	"fmt"
	"math"
	"slices"
)

// A Series is the measured values of one quantity, one per round. NaN stands for a round without a value.
type Series []float64

// Median returns the middle value, NaN if there is none.
func (s Series) Median() float64 {
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

// Quantile returns the quantile of the values for a part from 0 (the minimum) to 1 (the maximum), NaN if there are
// none.
func (s Series) Quantile(part float64) float64 {
	sorted := s.sorted()
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[max(int(math.Ceil(part*float64(len(sorted)))), 1)-1]
}

// Sum adds up the values.
func (s Series) Sum() float64 {
	var sum float64
	for _, v := range s {
		sum += v
	}
	return sum
}

func (s Series) sorted() Series {
	sorted := slices.DeleteFunc(slices.Clone(s), math.IsNaN)
	slices.Sort(sorted)
	return sorted
}

// Over returns the ratios to another series, round by round. Unlike the ratio of the medians, their median does not
// suffer from a machine whose speed drifts, because both values of a ratio were measured within seconds.
func (s Series) Over(base Series) Series {
	var ratios Series
	for i := range min(len(s), len(base)) {
		ratios = append(ratios, s[i]/base[i])
	}
	return ratios
}

// tolerance is the part of a median by which rounds may differ from it without being mentioned.
const tolerance = 0.1

// Spread formats the median, and the range if a value differs from the median by more than a tenth.
func (s Series) Spread(format func(float64) string) string {
	sorted := s.sorted()
	if len(sorted) == 0 {
		return "-"
	}
	median, least, most := sorted.Median(), sorted[0], sorted[len(sorted)-1]
	if math.Max(median-least, most-median) <= tolerance*math.Abs(median) {
		return format(median)
	}
	return fmt.Sprintf("%s (%s..%s)", format(median), format(least), format(most))
}

// Ratio formats a ratio like Spread.
func (s Series) Ratio() string {
	return s.Spread(func(v float64) string { return fmt.Sprintf("%.2f", v) })
}

// Number formats the series like Spread, and each value like the function [Number].
func (s Series) Number() string { return s.Spread(Number) }

// Number formats a value with three significant digits, or with all digits before the point.
func Number(v float64) string {
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

// AtMost returns whether the median is at most the budget, in words.
func (s Series) AtMost(budget float64) string { return verdict(s.Median() <= budget, s) }

// AtLeast returns whether the median is at least the budget, in words.
func (s Series) AtLeast(budget float64) string { return verdict(s.Median() >= budget, s) }

func verdict(holds bool, s Series) string {
	switch {
	case len(s.sorted()) == 0:
		return "-"
	case holds:
		return "yes"
	}
	return "**no**"
}
