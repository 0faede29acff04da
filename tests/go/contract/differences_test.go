package contract

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// difference is something that an observer of the queue can tell us from Graphile Worker by.
type difference struct {
	what string // the row's name in docs/compatibility.md, as are the others its columns
	node string
	ours string
	why  string
}

var differences = []difference{
	{
		what: "The index jobs_no_queue_index",
		node: "on `priority, run_at`, with `id` beside",
		ours: "on `priority, run_at, id`",
		why:  "the index alone serves the order, where a bulk enqueue gave many jobs one `run_at` too",
	},
	{
		what: "Error codes",
		node: "`23502`, `23514`, `22003` and `22023`",
		ours: "[codes of our own](errors.md), which begin with `GW`",
		why:  "each mistake has its own; the names of schema, table, column and CHECK constraint are still in the error, the failing row is not",
	},
	{
		what: "Attempts of a running job that must not run again",
		node: "`attempts = max_attempts`",
		ours: "`attempts = max_attempts + 1` until its worker lets go; after a Node worker's failure until the next sweep, a minute at most while a gw worker runs",
		why:  "a worker that returns the job takes one attempt off, and the job must stay dead",
	},
	{
		what: "A keyed job that is claimed during add_job",
		node: "nothing is added, `add_job` returns null",
		ours: "a new job is added",
		why:  "no request is lost",
	},
	{
		what: "Arrays that meet under a key",
		node: "joined as `jsonb`: numbers written out, keys sorted, `\\u0000` an error",
		ours: "joined as they were written, and no longer than `max_payload`",
		why:  "`1e131071` is 131072 digits as `jsonb`, which made gigabytes of a few calls",
	},
	{
		what: "Two specs with one key in one add_jobs call",
		node: "error `21000`",
		ours: "as if added one after the other",
		why:  "a batch means what its parts mean",
	},
	{
		what: "The order of the rows of add_jobs",
		node: "any",
		ours: "that of the specs",
		why:  "callers match them by position, as `addJobs` in JavaScript does",
	},
	{
		what: "add_jobs with an empty array or null",
		node: "sends an empty notification",
		ours: "does nothing",
		why:  "there is nothing to announce",
	},
	{
		what: "Ids that are used up",
		node: "one for each replacement by key",
		ours: "one for each new job",
		why:  "sequences are finite",
	},
	{
		what: "Several additions in one transaction",
		node: "as many notifications",
		ours: "one notification for those of one size",
		why:  "cheaper; gw takes up all of it, of a Node pool one idle worker starts at once and the others at their next poll",
	},
	{
		what: "A time or a lock that changes is announced",
		node: "no notification",
		ours: "a notification by `reschedule_jobs`, `force_unlock_workers`, and whatever frees a named queue",
		why:  "the job need not wait for somebody to poll",
	},
	{
		what: "Negative attempts",
		node: "`reschedule_jobs` stores them",
		ours: "error `GWBAR`",
		why:  "a job has no attempts to owe",
	},
	{
		what: "A worker that died in the last attempt",
		node: "the job fails for good, with the `last_error` it had",
		ours: "`last_error` says that the worker reported no outcome",
		why:  "a job that failed for good has a reason",
	},
}

func TestEveryDifferenceIsShownAndIsInTheList(t *testing.T) {
	shown := map[string]bool{raceDifference: true, crashDifference: true}
	for _, s := range scenarios() {
		if (s.difference == "") != (s.ours == "") || s.ours != "" && trim(s.ours) == trim(s.node) {
			t.Errorf("%s: an answer of ours that differs has a difference as its reason", s.name)
		}
		if s.difference != "" {
			shown[s.difference] = true
		}
	}
	for _, d := range differences {
		if !shown[d.what] {
			t.Errorf("no scenario shows the difference %q", d.what)
		}
		delete(shown, d.what)
	}
	for what := range shown {
		t.Errorf("the list lacks the difference %q", what)
	}
}

func TestTheDocumentListsExactlyTheDifferences(t *testing.T) {
	document, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(document), "\n## What differs\n")
	if !found {
		t.Fatal("docs/compatibility.md has no section `What differs`")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(section, -1)
	want := []string{"| | Graphile Worker 0.18.0 | gw | why |", "|---|---|---|---|"}
	for _, d := range differences {
		want = append(want, "| "+strings.Join([]string{d.what, d.node, d.ours, d.why}, " | ")+" |")
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the table in docs/compatibility.md must read\n%s", strings.Join(want, "\n"))
	}
}
