package crontab

import (
	"errors"
	"fmt"
	"time"
)

// EveryMinute returns an item that runs every minute. opts may be nil, here and below.
//
// Like the functions below, it returns all problems of its arguments as one error.
func EveryMinute(task string, opts *Options) (Item, error) {
	return build(task, "* * * * *", opts)
}

// EveryNMinutes returns an item that runs at minute 0 of every hour and every n minutes from there, for n from 1 to 59.
// If 60 is not a multiple of n, the last interval of an hour is shorter.
func EveryNMinutes(task string, n int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("*/%d * * * *", n), opts, within("number of minutes", n, 1, 59))
}

// HourlyAt returns an item that runs once an hour, at a minute from 0 to 59.
func HourlyAt(task string, minute int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("%d * * * *", minute), opts, isMinute(minute))
}

// DailyAt returns an item that runs once a day, at an hour from 0 to 23 and a minute from 0 to 59.
func DailyAt(task string, hour, minute int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("%d %d * * *", minute, hour), opts, isHour(hour), isMinute(minute))
}

// WeeklyOn returns an item that runs once a week.
func WeeklyOn(task string, weekday time.Weekday, hour, minute int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("%d %d * * %d", minute, hour, weekday), opts,
		within("weekday", int(weekday), int(time.Sunday), int(time.Saturday)), isHour(hour), isMinute(minute))
}

// MonthlyOn returns an item that runs once a month, on a day from 1 to 31. It does not run in months without that day.
func MonthlyOn(task string, day, hour, minute int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("%d %d %d * *", minute, hour, day), opts,
		within("day", day, 1, 31), isHour(hour), isMinute(minute))
}

// YearlyOn returns an item that runs once a year; on 29 February, only in leap years.
func YearlyOn(task string, month time.Month, day, hour, minute int, opts *Options) (Item, error) {
	return build(task, fmt.Sprintf("%d %d %d %d *", minute, hour, day, month), opts,
		within("month", int(month), int(time.January), int(time.December)), within("day", day, 1, longest(month)),
		isHour(hour), isMinute(minute))
}

// longest returns the maximum number of days of a month, and 31 if the month is invalid.
func longest(month time.Month) int {
	switch month {
	case time.February:
		return 29
	case time.April, time.June, time.September, time.November:
		return 30
	}
	return 31
}

func isHour(hour int) error     { return within("hour", hour, 0, 23) }
func isMinute(minute int) error { return within("minute", minute, 0, 59) }

// within returns an error if value is not between low and high.
func within(name string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s is %d, must be between %d and %d", name, value, low, high)
	}
	return nil
}

// build returns an item if there are no problems.
func build(task, pattern string, opts *Options, problems ...error) (Item, error) {
	if opts == nil {
		opts = &Options{}
	}
	item, err := opts.completed(Item{Task: task, Pattern: pattern})
	if err = errors.Join(append(problems, err)...); err != nil {
		return Item{}, fmt.Errorf("schedule task %q: %w", task, err)
	}
	return item, nil
}
