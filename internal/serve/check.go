package serve

import (
	"github.com/gwsql/gw/internal/config"
)

// Summary is the content of a worker's files.
type Summary struct {
	Tasks         map[string]config.Task // by their names
	RecurringJobs int
}

// Check reads the files as [Run] does, and returns the problems that can be found without the database. It uses only
// the options about files, and the logger.
func Check(o Options) (Summary, error) {
	tasks, err := newTaskFinder(o.Tasks, o.Logger).find(o.File)
	if err != nil {
		return Summary{}, err
	}
	services := newServices(&o, nil)
	defer services.end()
	if _, err := services.prepare(tasks); err != nil {
		return Summary{}, err
	}
	cron, err := o.Crontab.read()
	return Summary{Tasks: tasks, RecurringJobs: len(cron)}, err
}
