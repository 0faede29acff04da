package crontab

import (
	"regexp"
	"strconv"
	"time"
)

// periodPart is a part of a period such as 4w3d2h1m.
var periodPart = regexp.MustCompile(`([0-9]+)([smhdw])`)

// parsePeriod returns the duration of a period with one or more parts. It returns false if the period is too long.
func parsePeriod(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
	var sum time.Duration
	for _, part := range periodPart.FindAllStringSubmatch(text, -1) {
		count, err := strconv.ParseInt(part[1], 10, 64)
		unit := units[part[2]]
		if err != nil || time.Duration(count) > (maxFill-sum)/unit {
			return 0, false
		}
		sum += time.Duration(count) * unit
	}
	return sum, true
}
