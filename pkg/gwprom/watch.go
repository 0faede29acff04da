package gwprom

import "github.com/gwsql/gw/pkg/shim"

// watch follows one worker. Its fields belong to the goroutine that delivers the events.
type watch struct {
	metrics   *Metrics
	running   map[*shim.Job]struct{} // a set, so that a dropped event has no lasting effect
	begun     bool                   // WorkerStopped also comes after a run that failed to start
	listening bool
	lost      bool // whether the listening connection was lost since it was last opened
}

func (w *watch) see(event shim.Event) {
	m := w.metrics
	switch e := event.(type) {
	case shim.WorkerStarted:
		w.begun = true
		m.workersRunning.Inc()
	case shim.WorkerFailed:
		m.workerFailures.Inc()
	case shim.WorkerStopped:
		w.stopped()
	case shim.ListenConnected:
		w.connected()
	case shim.ListenFailed:
		w.disconnected()
		w.lost = true
	case shim.ClaimSucceeded:
		m.fetchDuration.Observe(e.Duration.Seconds())
	case shim.ClaimEmpty:
		m.fetchDuration.Observe(e.Duration.Seconds())
	case shim.ClaimFailed:
		m.fetchDuration.Observe(e.Duration.Seconds())
		m.fetchErrors.Inc()
	case shim.JobStarted:
		w.started(e.Job)
	case shim.JobSucceeded:
		w.ended(e.Job)
	case shim.JobErrored:
		w.ended(e.Job)
	case shim.JobSnoozed:
		w.ended(e.Job)
	case shim.JobInterrupted:
		w.ended(e.Job)
	case shim.JobReported:
		w.reported(e)
	case shim.SweepSucceeded:
		m.freed.Add(float64(e.Freed))
	case shim.CronScheduled:
		for _, job := range e.Jobs {
			m.cronJobs.WithLabelValues(job.Task).Inc()
		}
	case shim.CronBackfilled:
		for _, job := range e.Jobs {
			m.cronBackfilled.WithLabelValues(job.Task).Inc()
		}
	case shim.CronFailed:
		m.cronErrors.Inc()
	}
}

func (w *watch) started(job *shim.Job) {
	w.running[job] = struct{}{}
	w.metrics.running.WithLabelValues(job.TaskIdentifier).Inc()
	w.metrics.latency.WithLabelValues(job.TaskIdentifier).Observe(job.Latency().Seconds())
}

func (w *watch) ended(job *shim.Job) {
	if _, runs := w.running[job]; runs {
		delete(w.running, job)
		w.metrics.running.WithLabelValues(job.TaskIdentifier).Dec()
	}
}

func (w *watch) reported(e shim.JobReported) {
	w.ended(e.Job)
	w.metrics.jobs.WithLabelValues(e.Job.TaskIdentifier, string(e.Outcome)).Inc()
	if e.Started {
		w.metrics.duration.WithLabelValues(e.Job.TaskIdentifier).Observe(e.Duration.Seconds())
	}
}

func (w *watch) connected() {
	if w.lost {
		w.metrics.reconnects.Inc()
	}
	if !w.listening {
		w.metrics.listening.Inc()
	}
	w.listening, w.lost = true, false
}

func (w *watch) disconnected() {
	if w.listening {
		w.metrics.listening.Dec()
	}
	w.listening = false
}

func (w *watch) stopped() {
	w.disconnected()
	w.lost = false
	for job := range w.running {
		w.ended(job)
	}
	if w.begun {
		w.metrics.workersRunning.Dec()
	}
	w.begun = false
}
