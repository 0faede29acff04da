package interleave

import (
	"fmt"
	"strings"
)

// jobSpec is the request of a producer for a job.
type jobSpec struct {
	task, payload, queue, key, mode string
	runAt                           moment
	maxAttempts, priority           int
	flags                           []string
}

// put adds a job, or replaces the one that is waiting under the key.
func (s *state) put(spec jobSpec, e env) *job {
	s.Tasks[spec.task] = true
	if spec.queue != "" && s.Queues[spec.queue] == nil {
		s.Queues[spec.queue] = &queue{}
	}
	if spec.payload == "" {
		spec.payload = "{}"
	}
	if spec.runAt == 0 {
		spec.runAt = e.now
	}
	if spec.maxAttempts == 0 {
		spec.maxAttempts = 25
	}
	j := s.underKey(spec.key)
	switch {
	case j != nil && spec.mode == "unsafe_dedupe":
		j.Revision++
		j.UpdatedAt = e.now
		return j
	case j != nil && j.isAvailable():
		if spec.mode == "preserve_run_at" && j.Attempts == 0 {
			spec.runAt = j.RunAt
		}
		spec.payload = merged(j.Payload, jsonb(spec.payload))
		j.Revision++
		j.Steps = ""
		j.Held = false
	default:
		if j != nil { // it is running or has failed: it keeps its row and loses its key
			j.retire(e.now)
		}
		s.LastID++
		j = &job{ID: s.LastID, CreatedAt: e.now}
		s.Jobs[j.ID] = j
	}
	j.Task, j.Queue, j.Key, j.RunAt, j.MaxAttempts, j.Priority = spec.task, spec.queue, spec.key, spec.runAt,
		spec.maxAttempts, spec.priority
	j.Payload, j.Flags, j.Attempts, j.LastError, j.UpdatedAt = jsonb(spec.payload), flagsText(spec.flags), 0, "", e.now
	return j
}

// addJob is add_job.
type addJob jobSpec

func (c addJob) sql() string {
	return fmt.Sprintf("select %s from graphile_worker.add_job(%s, %s, queue_name => %s, run_at => %s, max_attempts => %s, job_key => %s, "+
		"priority => %d, flags => %s, job_key_mode => %s) as j", jobColumns, literal(c.task), literal(c.payload),
		literal(c.queue),
		timeLiteral(c.runAt), numberLiteral(c.maxAttempts), literal(c.key), c.priority, textArray(c.flags),
		literal(c.mode))
}

func (c addJob) apply(s *state, e env) answer {
	return answer{rows: []string{s.put(jobSpec(c), e).text()}}
}

// addJobs is add_jobs. It means the same as its specs added one after the other, and all answers show the final rows.
type addJobs struct {
	specs    []jobSpec
	preserve bool
}

func (c addJobs) sql() string {
	specs := make([]string, len(c.specs))
	for i, spec := range c.specs {
		specs[i] = fmt.Sprintf("(%s, %s, %s, %s, %s, %s, %d, %s)::graphile_worker.job_spec", literal(spec.task),
			literal(spec.payload),
			literal(spec.queue), timeLiteral(spec.runAt), numberLiteral(spec.maxAttempts), literal(spec.key),
			spec.priority, textArray(spec.flags))
	}
	return fmt.Sprintf("select %s from graphile_worker.add_jobs(array[%s]::graphile_worker.job_spec[], %t) as j",
		jobColumns, strings.Join(specs, ", "), c.preserve)
}

func (c addJobs) apply(s *state, e env) (a answer) {
	var jobs []*job
	for _, spec := range c.specs {
		if c.preserve {
			spec.mode = "preserve_run_at"
		}
		jobs = append(jobs, s.put(spec, e))
	}
	for _, j := range jobs {
		a.rows = append(a.rows, j.text())
	}
	return a
}

// removeJob is remove_job.
type removeJob struct{ key string }

func (c removeJob) sql() string {
	return fmt.Sprintf("select %s from graphile_worker.remove_job(%s) as j", jobColumns, literal(c.key))
}

func (c removeJob) apply(s *state, e env) answer {
	j := s.underKey(c.key)
	switch {
	case j == nil:
		return answer{rows: []string{"|||||||"}} // null
	case j.isFree(e.now):
		delete(s.Jobs, j.ID)
	default:
		j.retire(e.now)
	}
	return answer{rows: []string{j.text()}}
}
