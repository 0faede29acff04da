package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/gwsql/gw/internal/terminal"
)

// Attempt is a row of job_history or list_history: an attempt, or an end of a job that was no attempt.
type Attempt struct {
	JobID       int64           `json:"job_id"`
	Task        string          `json:"task_identifier"`
	Attempt     int             `json:"attempt"`
	MaxAttempts int             `json:"max_attempts"`
	Outcome     string          `json:"outcome"`
	WorkerID    string          `json:"worker_id"`
	Place       string          `json:"place"`
	Key         string          `json:"key"`
	CreatedAt   Moment          `json:"created_at"`
	RunAt       Moment          `json:"run_at"`
	StartedAt   Moment          `json:"started_at"`
	EndedAt     Moment          `json:"ended_at"`
	Error       string          `json:"error"`  // its first line
	Result      json.RawMessage `json:"result"` // only of job_history
}

// Tried returns the number of the attempt, such as 3/25.
func (a Attempt) Tried() string { return fmt.Sprintf("%d/%d", a.Attempt, a.MaxAttempts) }

// Ran returns how long the attempt ran, as text; empty if that is not known.
func (a Attempt) Ran() string {
	if a.StartedAt.IsZero() || a.EndedAt.IsZero() {
		return ""
	}
	return terminal.Elapsed(a.EndedAt.Sub(a.StartedAt.Time))
}

// TaskStats is a row of task_stats, with the task. Times are in seconds, nil if no attempt has one.
type TaskStats struct {
	Task              string   `json:"task"`
	Attempts          int64    `json:"attempts"`
	Completed         int64    `json:"completed"`
	Failed            int64    `json:"failed"`
	PermanentlyFailed int64    `json:"permanently_failed"`
	Recovered         int64    `json:"recovered"`
	WaitedP50         *float64 `json:"waited_p50"`
	WaitedP95         *float64 `json:"waited_p95"`
	WaitedP99         *float64 `json:"waited_p99"`
	RanP50            *float64 `json:"ran_p50"`
	RanP95            *float64 `json:"ran_p95"`
	RanP99            *float64 `json:"ran_p99"`
}
