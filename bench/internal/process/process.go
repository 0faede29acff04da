// Package process reads what Linux knows of a process.
package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc, the same on all architectures that Go supports.
const tick = 10 * time.Millisecond

// Stat is a part of /proc/PID/stat.
type Stat struct {
	Parent int
	Own    time.Duration // processor time
	Ended  time.Duration // processor time of its children that have ended
}

// Read returns the state of a process. The error is one of [os.ReadFile] if there is none.
func Read(pid int) (s Stat, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// The name, in parentheses, may contain spaces and parentheses. The parent is the 2nd field after it, the times are
	// the 12th to 15th ones.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 15 {
		return s, fmt.Errorf("%q has too few fields", text)
	}
	var numbers [5]int
	for i, field := range append(fields[1:2:2], fields[11:15]...) {
		if numbers[i], err = strconv.Atoi(field); err != nil {
			return s, err
		}
	}
	return Stat{numbers[0], time.Duration(numbers[1]+numbers[2]) * tick, time.Duration(numbers[3]+numbers[4]) * tick},
		nil
}
