package main

import (
	"math"
	"slices"
	"testing"
)

func TestTheMedianIsTheMiddleOfWhatWasMeasured(t *testing.T) {
	for _, c := range []struct {
		values series
		want   float64
	}{
		{series{3}, 3},
		{series{9, 1, 2}, 2},
		{series{4, 1, 3, 2}, 2.5},
		{series{math.NaN(), 5, 1, 3}, 3},
	} {
		if got := c.values.median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	rounds := series{9, 1, 2}
	if rounds.median(); !slices.Equal(rounds, series{9, 1, 2}) {
		t.Errorf("the rounds are in another order: %v", rounds)
	}
	if got := (series{}).median(); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
}

func TestARatioIsTakenRoundByRound(t *testing.T) {
	// The machine is half as fast in the second round, and in the third for one of them only.
	ours, base := series{20, 40, 60}, series{10, 20, 60}
	if got := ours.over(base).ratio(); got != "2.00 (1.00..2.00)" {
		t.Errorf("the ratio is %s", got)
	}
	if got := ours.over(nil).ratio(); got != "-" {
		t.Errorf("the ratio to nothing is %s", got)
	}
}

func TestABudgetHoldsByTheMedian(t *testing.T) {
	values := series{1, 2, 9}
	for _, c := range []struct{ got, want string }{
		{values.atMost(2), "yes"},
		{values.atMost(1.9), "**no**"},
		{values.atLeast(2), "yes"},
		{values.atLeast(2.1), "**no**"},
		{series{}.atMost(1), "-"},
	} {
		if c.got != c.want {
			t.Errorf("the verdict is %s, want %s", c.got, c.want)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{1234.5: "1234", 56.78: "56.8", 1.234: "1.23", 7: "7", math.NaN(): "-"} {
		if got := number(value); got != want {
			t.Errorf("%v is printed as %s, want %s", value, got, want)
		}
	}
}
