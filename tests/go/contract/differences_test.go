package contract

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// difference is an observable difference between our queue and Graphile Worker's.
type difference struct {
	what string // the row's name in docs/compatibility.md, as are the others its columns
	node string
	ours string
	why  string
}

var differences = []difference{
	{
		what: "The index jobs_no_queue_index",
		node: "on `priority, run_at`, with `id` included",
		ours: "on `priority, run_at, id`",
		why:  "it covers the whole order, also of many jobs with the same `run_at`",
	},
	{
		what: "Error codes",
		node: "`23502`, `23514`, `22003` and `22023`",
		ours: "[its own codes](errors.md), which begin with `GW`",
		why:  "each error has its own; it still names schema, table, column and CHECK constraint, but not the failing row",
	},
	{
		what: "Attempts of a running job that must not run again",
		node: "`attempts = max_attempts`",
		ours: "`attempts = max_attempts + 1` until its worker has reported; after a failure in a Node worker until the next sweep, at most a minute while a gw worker runs",
		why:  "returning the job decrements its attempts, and it must not run again",
	},
	{
		what: "A keyed job that is claimed during add_job",
		node: "no job is added, `add_job` returns null",
		ours: "a new job is added",
		why:  "no request is lost",
	},
	{
		what: "Arrays added under one key",
		node: "joined as `jsonb`: numbers are written out, keys sorted, `\\u0000` is an error",
		ours: "joined as text, up to the length of `max_payload`",
		why:  "`1e131071` has 131072 digits as `jsonb`: a few calls can create gigabytes",
	},
	{
		what: "Two specs with one key in one add_jobs call",
		node: "error `21000`",
		ours: "as if added one after the other",
		why:  "a batch does what its single calls do",
	},
	{
		what: "The order of the rows of add_jobs",
		node: "any",
		ours: "that of the specs",
		why:  "callers, such as `addJobs` in JavaScript, match rows by position",
	},
	{
		what: "add_jobs with an empty array or null",
		node: "sends an empty notification",
		ours: "does nothing",
		why:  "there is no new job",
	},
	{
		what: "Ids drawn from the sequence",
		node: "one for each replacement by key",
		ours: "one for each new job",
		why:  "sequences have a maximum",
	},
	{
		what: "Several additions in one transaction",
		node: "one notification for each",
		ours: "one for all of the same size",
		why:  "it costs less; a gw worker claims all jobs, of a Node pool one idle worker starts at once, others at their next poll",
	},
	{
		what: "Notifications of changed times and locks",
		node: "no notification",
		ours: "one by `reschedule_jobs`, `force_unlock_workers`, all that frees a named queue, and `add_job` with `unsafe_dedupe` of a ready job, whose row claims pass over meanwhile",
		why:  "it does not wait for the next poll",
	},
	{
		what: "Negative attempts",
		node: "`reschedule_jobs` stores them",
		ours: "error `GWBAR`",
		why:  "they have no meaning",
	},
	{
		what: "A worker that died in the last attempt",
		node: "it has failed permanently, with its previous `last_error`",
		ours: "the same; `last_error` says that the worker reported no outcome",
		why:  "every such job has a reason",
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
