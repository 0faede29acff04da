package jobs

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/hint"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// recently is the age of the last heartbeat up to which a worker counts, as in doctor().
const recently = 5 * time.Minute

// fileTask matches the task names that an executable in the folder of tasks can serve.
var fileTask = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)

// warnOfTask prints a warning on errOut if no registered worker has the task of a job that was just added, or if no
// executable can serve it. Without the right to list the workers there is no warning about them.
func warnOfTask(ctx context.Context, db *cli.Session, task string, errOut io.Writer) {
	served, known := servedTasks(ctx, db)
	if known && slices.Contains(served, task) {
		return
	}
	shown := terminal.Printable(strconv.Quote(task))
	if known {
		end := "."
		if meant := hint.Nearest(task, served, max(len(task)/3, 1)); meant != "" {
			end = "; is " + terminal.Printable(strconv.Quote(meant)) + " meant?"
		}
		fmt.Fprintf(errOut, "gw-run: warning: no registered worker has the task %s%s The job waits until one does.\n", shown, end)
	}
	if !fileTask.MatchString(task) {
		fmt.Fprintf(errOut, "gw-run: warning: no executable can serve the task %s: its name may only contain letters, digits, _ "+
			"and -, with / for folders. A config file or a Go program can serve it.\n", shown)
	}
}

// servedTasks returns the tasks of the registered workers that were seen recently. They are not known if there is no such
// worker, because workers of Graphile Worker do not register, or if one of them has no list of its tasks.
func servedTasks(ctx context.Context, db *cli.Session) (tasks []string, known bool) {
	workers, found, err := cli.Rows[inspect.Worker](db.Ask(ctx, `select w.* from S.list_workers(max_rows => 1000, pages => 0) as w where w.is_registered`))
	if err != nil {
		return nil, false
	}
	for _, w := range workers {
		if found.Now.Sub(w.LastSeenAt.Time) > recently {
			continue
		}
		if len(w.Tasks) == 0 {
			return nil, false
		}
		tasks, known = append(tasks, w.Tasks...), true
	}
	return tasks, known
}
