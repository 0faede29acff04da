package cron_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A pattern is a cron pattern according to the documentation: for each field the values that it lists.
type pattern struct {
	text    string
	fields  [5]map[int]bool
	byClock bool
}

var (
	fieldNames  = [5]string{"minutes", "hours", "dates", "months", "days of week"}
	fieldLowest = [5]int{0, 0, 1, 1, 0}
	fieldHigher = [5]int{60, 24, 32, 13, 7} // one above the highest value
)

// matches reports whether the pattern matches a local time.
func (p pattern) matches(local time.Time) bool {
	date, dow := p.fields[2][local.Day()], p.fields[4][int(local.Weekday())]
	day := date && dow
	if len(p.fields[2]) < 31 && len(p.fields[4]) < 7 {
		day = date || dow
	}
	return day && p.fields[0][local.Minute()] && p.fields[1][local.Hour()] && p.fields[3][int(local.Month())]
}

var (
	fiveFields = regexp.MustCompile(`^([0-9*/,-]+)\s+([0-9*/,-]+)\s+([0-9*/,-]+)\s+([0-9*/,-]+)\s+([0-9*/,-]+)$`)
	number     = regexp.MustCompile(`^[0-9]+$`)
	span       = regexp.MustCompile(`^([0-9]+)-([0-9]+)$`)
	wildcard   = regexp.MustCompile(`^\*(?:/([0-9]+))?$`)
)

// parse parses a pattern value by value. Its errors are Graphile Worker's messages.
func parse(text, source string) (pattern, error) {
	p := pattern{text: text}
	fields := fiveFields.FindStringSubmatch(text)
	if fields == nil {
		return p, fmt.Errorf("Invalid cron pattern '%s' in %s", text, source)
	}
	for i, field := range fields[1:] {
		p.fields[i] = map[int]bool{}
		for part := range strings.SplitSeq(field, ",") {
			if err := p.add(i, part, fieldNames[i]+" range in "+source); err != nil {
				return p, err
			}
		}
	}
	p.byClock = !strings.ContainsAny(fields[2], "*-") && len(p.fields[1]) < 24
	return p, nil
}

func (p pattern) add(field int, part, place string) error {
	lowest, higher := fieldLowest[field], fieldHigher[field]
	put := func(value int) error {
		switch {
		case field == 4 && value == 7:
			value = 0
		case value >= higher:
			return fmt.Errorf("Too large value '%d' in %s: expected values in the range %d-%d.", value, place, lowest,
				higher-1)
		case value < lowest:
			return fmt.Errorf("Too small value '%d' in %s: expected values in the range %d-%d.", value, place, lowest,
				higher-1)
		}
		p.fields[field][value] = true
		return nil
	}
	if number.MatchString(part) {
		return put(integer(part))
	}
	if bounds := span.FindStringSubmatch(part); bounds != nil {
		from, to := integer(bounds[1]), integer(bounds[2])
		if to <= from {
			return fmt.Errorf("Invalid range '%s' in %s: destination is not larger than source", part, place)
		}
		for value := from; value <= to; value++ {
			if err := put(value); err != nil {
				return err
			}
		}
		return nil
	}
	if divisor := wildcard.FindStringSubmatch(part); divisor != nil {
		step := 1
		if divisor[1] != "" {
			step = integer(divisor[1])
		}
		if step == 0 {
			return fmt.Errorf("Invalid wildcard expression '%s' in %s: divisor '%s' expected to be greater than zero",
				part, place, divisor[1])
		}
		for value := lowest; value < higher; value += step {
			p.fields[field][value] = true
		}
		return nil
	}
	return fmt.Errorf("Unsupported syntax '%s' in %s: this doesn't appear to be a number, range or wildcard", part,
		place)
}

// integer parses digits. All numbers above a billion give the same result.
func integer(digits string) int {
	value, err := strconv.Atoi(digits)
	if err != nil {
		return 1_000_000_000
	}
	return value
}
