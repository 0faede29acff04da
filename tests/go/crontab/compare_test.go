package crontab

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// compare fails the test for each crontab that pkg/crontab and Graphile Worker parse differently. It returns how many crontabs
// both could parse.
func compare(t *testing.T, texts []string) (readable int) {
	t.Helper()
	for i, node := range nodegw.Crontabs(t, nodegw.V18, texts) {
		if node.Error == "" {
			readable++
		}
		if difference := differ(crontab.Check(texts[i]), node); difference != "" {
			t.Errorf("%q\n%s", texts[i], difference)
		}
	}
	return readable
}

// stricter matches the messages about values that Graphile Worker accepts and the database would not.
var stricter = regexp.MustCompile(`invalid value for '(max|priority|jobKey|job_key|queue|fill|id)', value .* is not compatible|` +
	`the task has \d+ characters|is too long \(max length|must not contain NUL`)

// differ describes how a report differs from the result of Graphile Worker for the same crontab, "" if it does not differ or only
// in an intended way.
func differ(report crontab.Report, node nodegw.Crontab) string {
	var messages []string
	for _, problem := range report.Problems {
		messages = append(messages, problem.Message)
	}
	switch {
	case node.Error == "" && len(report.Warnings) > 0:
		return fmt.Sprintf("Node reads it in spite of the warnings %v", report.Warnings)
	case node.Error == "" && len(messages) == 0:
		return differInItems(report.Items, node.Items)
	case node.Error == "":
		if slices.ContainsFunc(messages, func(message string) bool { return !stricter.MatchString(message) }) {
			return fmt.Sprintf("Node reads it, here it is refused: %q", messages)
		}
	case len(report.Warnings) > 0:
		// Node stops at an unknown option.
	case len(messages) == 0:
		return fmt.Sprintf("Node refuses it, here it is read: %s", node.Error)
	case strings.HasPrefix(node.Error, "Invalid crontab; duplicate"):
		// Node reports all identifiers in one message.
		if !slices.ContainsFunc(messages, func(message string) bool {
			return strings.HasPrefix(message,
				"Invalid crontab; duplicate")
		}) {
			return fmt.Sprintf("Node says %q, here it is %q", node.Error, messages)
		}
	case !slices.Contains(messages, node.Error):
		return fmt.Sprintf("Node says\n%q, here it is\n%q", node.Error, messages)
	}
	return ""
}

// isGarbled reports whether a key may have contained a % that does not begin an escape. Then Node.js keeps only eight bits of each
// character.
func isGarbled(key string) bool {
	return strings.Contains(key, "%") && strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII })
}

func differInItems(items []crontab.Item, node []nodegw.CronItem) string {
	if len(items) != len(node) {
		return fmt.Sprintf("Node has %d items, here are %d", len(node), len(items))
	}
	for i, item := range items {
		var want nodegw.CronItem
		want.Task, want.Identifier = item.Task, item.Identifier
		if item.Payload != nil {
			if err := json.Unmarshal(item.Payload, &want.Payload); err != nil {
				return err.Error()
			}
		}
		want.Options.BackfillPeriod = float64(item.Fill / time.Millisecond)
		want.Options.MaxAttempts, want.Options.Priority = float64(item.MaxAttempts), float64(item.Priority)
		want.Options.QueueName = item.QueueName
		want.Options.JobKey, want.Options.JobKeyMode = item.JobKey, string(item.JobKeyMode)
		got := node[i]
		if isGarbled(item.JobKey) {
			got.Options.JobKey = item.JobKey
		}
		got.Minutes, got.Hours, got.Dates, got.Months, got.Dows = nil, nil, nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("Node has\n%+v, here it is\n%+v", got, want)
		}
	}
	return ""
}
