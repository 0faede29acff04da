package subject

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time of the machine's monotonic clock in nanoseconds, which all processes share, including Node's
// hrtime.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // without this clock nothing can be measured
	}
	return t.Nano()
}

// cpu returns the processor time of this process in microseconds.
func cpu() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err) // according to its manual it cannot fail
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Microseconds()
}
