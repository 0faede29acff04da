// Package subject is how a process that is measured and the one that measures it talk: by lines on stdin and stdout.
//
// The process gets an [Order] as its argument and says that it is ready. Then it is told, by one word a line:
//
//	go      begin
//	add     add so many jobs in calls of so many: add 1000 1; answered when they are there
//	status  say how far it has come
//	recent  say which jobs it began last
//	stop    end in good order, and write down what was executed
//
// It answers with [Message], one a line. If its stdin closes, it ends at once: whoever started it is gone.
// node/subject.mjs is the same for Node.js.
package subject

// An Order says what a process is to do.
type Order struct {
	// URL is the database.
	URL string `json:"url"`

	// Do is what to do: work jobs until told to stop, work once until none is left, or only add jobs.
	Do string `json:"do"`

	// Concurrency is how many handlers run at once.
	Concurrency int `json:"concurrency"`

	// Jobs is how many jobs there are at most. Their ids are 1, 2 and so on.
	Jobs int `json:"jobs"`

	// SleepMillis is how long a handler sleeps.
	SleepMillis int `json:"sleepMillis"`

	// Failures is how many attempts of each job fail before one succeeds.
	Failures int `json:"failures"`

	// TellStarts makes the process send a message whenever a handler begins.
	TellStarts bool `json:"tellStarts"`

	// Counts is the file for the number of executions of each job, four bytes each, in the order of their ids. Empty: none.
	Counts string `json:"counts"`

	// Settings are what the contender knows beside these.
	Settings map[string]any `json:"settings"`
}

// What an order can ask for.
const (
	Work = "work"
	Once = "once"
	Add  = "add"
)

// A Message is what a process says. Times are nanoseconds of the monotonic clock of the machine.
type Message struct {
	Ready   string  `json:"ready,omitempty"` // the version of what is measured
	Start   *Start  `json:"start,omitempty"`
	Status  *Status `json:"status,omitempty"`
	Recent  []int64 `json:"recent,omitempty"`
	Added   *Added  `json:"added,omitempty"`
	Stopped bool    `json:"stopped,omitempty"`
	Error   string  `json:"error,omitempty"` // the process gives up
}

// A Start tells that a handler began.
type Start struct {
	ID int64 `json:"id"`
	At int64 `json:"at"`
}

// A Status tells how far a process has come.
type Status struct {
	Executions int64 `json:"executions"` // handlers that began
	First      int64 `json:"first"`      // when the first one began; 0: none has
	FirstCPU   int64 `json:"firstCPU"`   // microseconds of processor time until then
	CPU        int64 `json:"cpu"`        // microseconds of processor time so far
}

// Added tells that jobs were added.
type Added struct {
	ID    int64 `json:"id"`    // of the first one
	Begin int64 `json:"begin"` // before the first call
	End   int64 `json:"end"`   // after the last one
}
