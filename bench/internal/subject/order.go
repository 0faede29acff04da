// Package subject is the protocol between a measured process and the benchmark: lines on stdin and stdout.
//
// The process gets an [Order] as its argument and reports that it is ready. Then it gets commands, one per line:
//
//	go      begin
//	add     add a number of jobs in calls of a number each: add 1000 1; answered when the jobs are added
//	status  report the progress
//	recent  report the jobs that began last
//	stop    end in an orderly way, and write the counts of executions
//
// It answers with [Message], one per line. If its stdin closes, it ends at once, because the benchmark has ended.
// node/subject.mjs implements the same in Node.js.
package subject

import (
	"time"

	"golang.org/x/sys/unix"
)

// An Order is what a process has to do.
type Order struct {
	// URL is the URL of the database.
	URL string `json:"url"`

	// Do is the mode: run jobs until stopped, run jobs until none is left, or only add jobs.
	Do string `json:"do"`

	// Concurrency is the number of handlers that run at once.
	Concurrency int `json:"concurrency"`

	// Jobs is the maximum number of jobs. Their ids are 1, 2 and so on.
	Jobs int `json:"jobs"`

	// SleepMillis is how long a handler sleeps.
	SleepMillis int `json:"sleepMillis"`

	// Steps is the number of steps that each job saves; InTx saves them, and completes the job, in one transaction.
	Steps int  `json:"steps"`
	InTx  bool `json:"inTx"`

	// GivenTx makes the worker of gw give handlers the transaction that completes their jobs: one job, or up to Most if
	// that is not 0. Writes makes each job insert a row, in the transaction that completes it.
	GivenTx bool `json:"givenTx"`
	Most    int  `json:"most"`
	Writes  bool `json:"writes"`

	// Failures is the number of attempts of each job that fail before one succeeds.
	Failures int `json:"failures"`

	// TellStarts makes the process send a message whenever a handler begins.
	TellStarts bool `json:"tellStarts"`

	// Counts is the file for the number of executions of each job, four bytes each, in the order of their ids. Empty:
	// none.
	Counts string `json:"counts"`

	// Settings are further settings of the contender.
	Settings map[string]any `json:"settings"`
}

// The modes of an order.
const (
	Work = "work"
	Once = "once"
	Add  = "add"
)

// A Message is a message of a process. Times are nanoseconds of the machine's monotonic clock.
type Message struct {
	Ready   string  `json:"ready,omitempty"` // the version of the contender
	Start   *Start  `json:"start,omitempty"`
	Status  *Status `json:"status,omitempty"`
	Recent  []int64 `json:"recent,omitempty"`
	Added   *Added  `json:"added,omitempty"`
	Stopped bool    `json:"stopped,omitempty"`
	Error   string  `json:"error,omitempty"` // the process gives up
}

// A Start is the message that a handler began.
type Start struct {
	ID int64 `json:"id"`
	At int64 `json:"at"`
}

// A Status is the progress of a process.
type Status struct {
	Executions int64 `json:"executions"` // number of handlers that began
	First      int64 `json:"first"`      // when the first one began; 0 if none has
	FirstCPU   int64 `json:"firstCPU"`   // microseconds of processor time until then
	CPU        int64 `json:"cpu"`        // microseconds of processor time so far
}

// Added is the message that jobs were added.
type Added struct {
	ID    int64 `json:"id"`    // of the first one
	Begin int64 `json:"begin"` // before the first call
	End   int64 `json:"end"`   // after the last one
}

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
