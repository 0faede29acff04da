package stats

import (
	"math"
	"slices"
	"testing"
)

func TestTheMedianIsTheMiddleOfWhatWasMeasured(t *testing.T) {
	for _, c := range []struct {
		values Series
		want   float64
	}{
		{Series{3}, 3},
		{Series{9, 1, 2}, 2},
		{Series{4, 1, 3, 2}, 2.5},
		{Series{math.NaN(), 5, 1, 3}, 3},
	} {
		if got := c.values.Median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	rounds := Series{9, 1, 2}
	if rounds.Median(); !slices.Equal(rounds, Series{9, 1, 2}) {
		t.Errorf("the rounds are in another order: %v", rounds)
	}
	if got := (Series{}).Median(); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
}

func TestAQuantileIsOneOfTheValues(t *testing.T) {
	var hundred Series
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for part, want := range map[float64]float64{0: 1, 0.5: 50, 0.95: 95, 0.99: 99, 1: 100} {
		if got := hundred.Quantile(part); got != want {
			t.Errorf("the quantile %v of 1 to 100 is %v, want %v", part, got, want)
		}
	}
	if got := (Series{3, 1, 2}).Quantile(0.5); got != 2 {
		t.Errorf("half of 1, 2, 3 are not above %v, want 2", got)
	}
	if got := (Series{}).Quantile(0.5); !math.IsNaN(got) {
		t.Errorf("a quantile of nothing is %v", got)
	}
}

func TestARatioIsTakenRoundByRound(t *testing.T) {
	// The machine is half as fast in the second round, and in the third for one of them only.
	ours, base := Series{20, 40, 60}, Series{10, 20, 60}
	if got := ours.Over(base).Ratio(); got != "2.00 (1.00..2.00)" {
		t.Errorf("the ratio is %s", got)
	}
	if got := (Series{1, 1.05, 0.95}).Ratio(); got != "1.00" {
		t.Errorf("rounds that differ by less than a tenth are %s", got)
	}
	if got := ours.Over(nil).Ratio(); got != "-" {
		t.Errorf("the ratio to nothing is %s", got)
	}
}

func TestABudgetHoldsByTheMedian(t *testing.T) {
	values := Series{1, 2, 9}
	for _, c := range []struct{ got, want string }{
		{values.AtMost(2), "yes"},
		{values.AtMost(1.9), "**no**"},
		{values.AtLeast(2), "yes"},
		{values.AtLeast(2.1), "**no**"},
		{Series{}.AtMost(1), "-"},
	} {
		if c.got != c.want {
			t.Errorf("the verdict is %s, want %s", c.got, c.want)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{1234.5: "1234", 56.78: "56.8", 1.234: "1.23", 7: "7", math.NaN(): "-"} {
		if got := Number(value); got != want {
			t.Errorf("%v is printed as %s, want %s", value, got, want)
		}
	}
}
