package gwui

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/inspect"
)

// isRunnable reports whether the remedy of a finding is a statement that changes something; others are commands for a shell.
func isRunnable(command string) bool {
	return strings.HasPrefix(command, "select ") && !strings.HasPrefix(command, "select *")
}

// verbs are what the buttons of remedies say, by the functions that these call.
var verbs = map[string]string{
	"open_lane": "Open", "resume": "Resume", "force_unlock_workers": "Unlock", "reset_stale_locks": "Free", "drain_worker": "Let claim",
	"retry_jobs": "Retry", "complete_jobs": "Delete jobs", "repair": "Repair", "set_limit": "Set",
}

var calledFunction = regexp.MustCompile(`\.(\w+)\(`)

// verbOf returns what a statement does, as a verb.
func verbOf(command string) string {
	if called := calledFunction.FindStringSubmatch(command); called != nil {
		return cmp.Or(verbs[called[1]], "Run")
	}
	return "Run"
}

// adviceOf returns the remedy of a finding without its statement.
func adviceOf(f inspect.Finding) string {
	return strings.TrimSpace(strings.TrimSuffix(f.Remedy, f.Command))
}

// remedyOf names a finding, and the remedy that its page has shown.
func remedyOf(f inspect.Finding) url.Values {
	seen := sha256.Sum256([]byte(f.Command))
	return url.Values{"finding": {f.Finding}, "subject": {f.Subject}, "seen": {hex.EncodeToString(seen[:8])}}
}

// findRemedy returns the finding that a request names, as it is now.
func (c *Console) findRemedy(ctx context.Context, q *request) (f inspect.Finding, err error) {
	found, err := read[inspect.Finding](ctx, c.store, doctorQuery, doctorPages)
	if err != nil {
		return f, err
	}
	for _, f := range found.Rows {
		if isRunnable(f.Command) && f.Finding == q.query.Get("finding") && f.Subject == q.query.Get("subject") {
			if remedyOf(f).Get("seen") != q.query.Get("seen") {
				return f, statusError{http.StatusConflict, "The remedy is another one by now. Look at the overview again."}
			}
			return f, nil
		}
	}
	return f, statusError{http.StatusConflict, "This problem is gone, or has another remedy by now."}
}

func confirmRemedy(ctx context.Context, c *Console, q *request) (*view, error) {
	f, err := c.findRemedy(ctx, q)
	if err != nil {
		return nil, err
	}
	return q.asks("", question{
		Title: verbOf(f.Command), Button: verbOf(f.Command), Statement: f.Command,
		Text: fmt.Sprintf("%s: %s. %s", printable(f.Finding), printable(f.Subject), printable(adviceOf(f))),
	}), nil
}

func runRemedy(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	f, err := c.findRemedy(ctx, q)
	if err != nil {
		return outcome{}, err
	}
	err = c.store.act(ctx, auditOf(q.viewer.Name), func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, f.Command, pgx.QueryExecModeSimpleProtocol)
		return err
	})
	return outcome{"", fmt.Sprintf("Ran the remedy for %s, %s.", printable(f.Finding), printable(f.Subject))}, err
}
