package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gwsql/gw/internal/terminal"
)

// Job is a row of list_jobs, show_jobs or jobs_without_data, without its payload.
type Job struct {
	ID          int64           `json:"id"`
	State       string          `json:"state"`
	Task        string          `json:"task_identifier"`
	Queue       string          `json:"queue_name"`
	Key         string          `json:"key"`
	Priority    int             `json:"priority"`
	RunAt       Moment          `json:"run_at"`
	Attempts    int             `json:"attempts"`
	MaxAttempts int             `json:"max_attempts"`
	LastError   string          `json:"last_error"`
	CreatedAt   Moment          `json:"created_at"`
	UpdatedAt   Moment          `json:"updated_at"`
	LockedAt    Moment          `json:"locked_at"`
	LockedBy    string          `json:"locked_by"`
	Revision    int             `json:"revision"`
	Flags       map[string]bool `json:"flags"`

	Progress     *float64 `json:"progress"` // in percent; only of show_jobs, like the following
	ProgressNote string   `json:"progress_note"`
	ProgressAt   Moment   `json:"progress_at"`
	Steps        []string `json:"steps"`
}

// Done returns the progress of the job as a person reads it, such as "40 %, row 7 of 20"; empty without.
func (j Job) Done() string {
	var parts []string
	if j.Progress != nil {
		parts = append(parts, strconv.FormatFloat(math.Round(*j.Progress*10)/10, 'f', -1, 64)+" %")
	}
	if j.ProgressNote != "" {
		parts = append(parts, j.ProgressNote)
	}
	return strings.Join(parts, ", ")
}

// Tried returns the attempts of the job as a person counts them, such as 3/25.
func (j Job) Tried() string {
	return fmt.Sprintf("%d/%d", min(j.Attempts, j.MaxAttempts), j.MaxAttempts)
}

// FlagNames returns the flags in the order of their names.
func (j Job) FlagNames() string { return strings.Join(slices.Sorted(maps.Keys(j.Flags)), ", ") }

// Why is a row of why.
type Why struct {
	Reason   string  `json:"reason"`
	Detail   string  `json:"detail"`
	Until    Moment  `json:"until"`
	Blocking []int64 `json:"blocking_job_ids"`
	Remedy   string  `json:"remedy"`
}

// Counts are the jobs of a queue, a task or all in each state.
type Counts struct {
	Ready      int64 `json:"ready"`
	Scheduled  int64 `json:"scheduled"`
	Running    int64 `json:"running"`
	Failed     int64 `json:"failed"`
	IsEstimate bool  `json:"is_estimate"`

	Scale float64 `json:"scale"` // for how many jobs each counted one stands
}

// Of returns the jobs in a state.
func (c Counts) Of(state string) int64 {
	return map[string]int64{"ready": c.Ready, "scheduled": c.Scheduled, "running": c.Running, "failed": c.Failed}[state]
}

// Estimate returns a number of jobs as it is to be shown, and the sign before it: none if all were counted, else ~ and
// the number with three digits, or < and what the sample would hardly have missed (a chance of 5 %) if it has none.
func Estimate(jobs int64, scale float64) (sign string, shown int64) {
	switch {
	case scale <= 1:
		return "", jobs
	case jobs == 0:
		sign, jobs = "<", int64(math.Ceil(3*scale))
	default:
		sign = "~"
	}
	unit := int64(1)
	for jobs/unit >= 1000 {
		unit *= 10
	}
	return sign, (jobs + unit/2) / unit * unit
}

// Stats is the row of queue_stats, without its counters.
type Stats struct {
	Counts
	OldestReady    *float64 `json:"oldest_ready_seconds"`
	LongestRunning *float64 `json:"longest_running_seconds"`
	Workers        int64    `json:"workers"`
}

// Worker is a row of list_workers.
type Worker struct {
	ID           string   `json:"worker_id"`
	IsRegistered bool     `json:"is_registered"`
	Host         string   `json:"host"`
	PID          int      `json:"pid"`
	Version      string   `json:"version"`
	Concurrency  int      `json:"concurrency"`
	Running      int64    `json:"running"`
	Claimed      int64    `json:"claimed"`
	LongestSince Moment   `json:"longest_since"`
	StartedAt    Moment   `json:"started_at"`
	LastSeenAt   Moment   `json:"last_seen_at"`
	Tasks        []string `json:"tasks"`
	IsEstimate   bool     `json:"is_estimate"`
	Scale        float64  `json:"scale"`
	ToldAt       Moment   `json:"told_at"` // when it told how many jobs run; null: never
	State        string   `json:"state"`   // working, draining, drained, silent; empty: not registered
}

// Finding is a row of doctor.
type Finding struct {
	Severity string `json:"severity"`
	Finding  string `json:"finding"`
	Subject  string `json:"subject"`
	Detail   string `json:"detail"`
	Remedy   string `json:"remedy"`
	Command  string `json:"command"` // the remedy as one statement or command; empty: it is not one
}

// Widths are the numbers that a limit and its lanes have.
type Widths struct {
	MaxRunning *int64 `json:"max_running"`
	Rate       *int64 `json:"rate"`
	Per        string `json:"per"`
	Burst      *int64 `json:"burst"`
}

// Limit is a row of list_limits.
type Limit struct {
	Widths
	Name         string   `json:"name"`
	Tasks        []string `json:"tasks"`
	By           string   `json:"by"`
	TotalRunning *int64   `json:"total_running"`
	Fair         bool     `json:"fair"`
	Strict       string   `json:"strict"`
	Lanes        int64    `json:"lanes"`
	Running      int64    `json:"running"`
	FullLanes    int64    `json:"full_lanes"`
	ClosedLanes  int64    `json:"closed_lanes"`
	Waiting      int64    `json:"waiting"`
	MoreWaiting  bool     `json:"more_waiting"` // than Waiting
}

// Lane is a row of list_lanes.
type Lane struct {
	Widths
	Key         *string `json:"lane"`
	IsTotal     bool    `json:"is_total"`
	Running     int64   `json:"running"`
	JobIDs      []int64 `json:"job_ids"`
	Reason      string  `json:"reason"`
	Until       Moment  `json:"until"`
	Waiting     int64   `json:"waiting"`
	MoreWaiting bool    `json:"more_waiting"` // than Waiting
}

// IsLane reports whether both are the same lane of a limit.
func (l Lane) IsLane(o Lane) bool {
	return l.IsTotal == o.IsTotal && (l.Key == nil) == (o.Key == nil) && (l.Key == nil || *l.Key == *o.Key)
}

// State is open if the lane starts jobs, or else why it does not.
func (l Lane) State() string { return cmp.Or(l.Reason, "open") }

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
