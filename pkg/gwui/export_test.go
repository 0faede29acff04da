package gwui

import (
	"context"
	"errors"
	"net/url"
	"time"
)

const (
	ReadTimeout = readTimeout
	Patience    = patience
)

// SetReadTimeout changes how long the statement of a panel may take. On a busy machine any takes long.
func (c *Console) SetReadTimeout(timeout time.Duration) { c.store.timeout = timeout }

// SetPatience changes how long a page waits for its panels.
func (c *Console) SetPatience(patience time.Duration) { c.patience = patience }

// SetBudget changes for how long a page reads the times of kept tasks.
func (c *Console) SetBudget(budget time.Duration) { c.budget = budget }

// Silent returns the panels of all pages that read from the database and would not tell what to do if they ran out of time.
func (c *Console) Silent(ctx context.Context) (ids []string) {
	for path, find := range pages {
		q := &request{path: path, query: url.Values{"task": {"t"}, "queue": {"q"}, "worker": {"w"}}, may: make(rights)}
		for _, function := range []string{"queue_stats", "list_tasks", "list_queues", "list_workers", "search_jobs", "error_groups", "list_samples", "list_lanes", "list_limits", "list_pauses", "why", "cron_schedules", "recurring_jobs",
			"job_history", "list_history", "list_kept_tasks", "task_stats"} {
			q.may[function] = true
		}
		v, err := find(ctx, c, q)
		if _, leads := errors.AsType[redirectError](err); leads {
			continue
		}
		if err != nil {
			return []string{path + ": " + err.Error()}
		}
		for _, p := range v.panels {
			if p.note == "" && !p.still && p.id != "notice" {
				ids = append(ids, path+" "+p.id)
			}
		}
	}
	return ids
}

// Forget drops all answers that are kept, so that the next page reads anew.
func (c *Console) Forget() { c.forget() }

// AgeNews makes what has been done no news any more.
func (c *Console) AgeNews() {
	c.operations.mu.Lock()
	defer c.operations.mu.Unlock()
	for _, o := range c.operations.known {
		o.mu.Lock()
		o.at = o.at.Add(-newsTime)
		o.mu.Unlock()
	}
}
