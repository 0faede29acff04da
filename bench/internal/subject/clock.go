package subject

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the monotonic clock of the machine in nanoseconds, which all processes share, Node's hrtime too.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // there is no such clock: nothing can be measured
	}
	return t.Nano()
}

// cpu returns the processor time of this process in microseconds.
func cpu() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err) // cannot be, says its manual
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Microseconds()
}
