package shim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

func TestTheHistoryIsListedInPages(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		q.exec(`delete from graphile_worker._private_jobs`) // those of the client before
		q.exec(`delete from graphile_worker._gw_ended`)
		if err := client.KeepTask(t.Context(), shim.KeptTask{Task: "mail", KeepFor: time.Hour}); err != nil {
			t.Fatal(err)
		}
		q.exec(`select graphile_worker.add_job('mail', job_key => case when n = 1 then 'ada' end, max_attempts => 1) from generate_series(1, 6) as n`)
		first := value[int64](q, `select min(id) from graphile_worker.jobs where task_identifier = 'mail'`)
		q.exec(`select count(*) from graphile_worker.get_job_batch('w', array['mail'], 6)`)
		// Five jobs end at the same time, and one after them.
		q.exec(`select count(*) from graphile_worker.complete_job_batch('w', array(select id from graphile_worker.jobs order by id limit 5))`)
		q.exec(`select graphile_worker.fail_job('w', $1::bigint, e'no such host\nat line 3')`, first+5)

		list := func(filter shim.HistoryFilter) string {
			t.Helper()
			var pages []string
			for {
				rows, err := client.ListHistory(t.Context(), filter)
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, row := range rows {
					ids = append(ids, fmt.Sprint(row.JobID-first+1))
					filter.After = &row
				}
				if pages = append(pages, strings.Join(ids, " ")); len(rows) < 2 {
					return strings.Join(pages, ", ")
				}
			}
		}
		rows, err := client.ListHistory(t.Context(), shim.HistoryFilter{Failures: true})
		if err != nil || len(rows) != 1 {
			t.Fatalf("the failures are %+v, %v", rows, err)
		}
		failure := rows[0]
		a := failure.Attempt
		if failure.JobID != first+5 || failure.Task != "mail" || failure.JobKey != "" || failure.CreatedAt.IsZero() ||
			a.Attempt != 1 || a.MaxAttempts != 1 ||
			a.Outcome != "permanently_failed" || a.WorkerID != "w" || a.RunAt.IsZero() || a.StartedAt.IsZero() ||
			a.EndedAt.IsZero() || a.Error != "no such host" {
			t.Errorf("the failure is %+v", failure)
		}
		for _, c := range []struct {
			filter shim.HistoryFilter
			want   string
		}{
			{shim.HistoryFilter{}, "6 5 4 3 2 1, "}, // the limit is 100
			{shim.HistoryFilter{Limit: 2}, "6 5, 4 3, 2 1, "},
			{shim.HistoryFilter{Limit: 4, Task: "mail", Outcome: "completed", WorkerID: "w"}, "5 4 3 2, 1"},
			{shim.HistoryFilter{JobKey: "ada"}, "1"},
			{shim.HistoryFilter{Task: "other"}, ""},
			{shim.HistoryFilter{Outcome: "snoozed"}, ""},
			{shim.HistoryFilter{WorkerID: "other"}, ""},
			{shim.HistoryFilter{Since: a.EndedAt}, "6"},
			{shim.HistoryFilter{Until: a.EndedAt}, "5 4 3 2 1, "},
		} {
			if got := list(c.filter); got != c.want {
				t.Errorf("%+v: the pages are %q, want %q", c.filter, got, c.want)
			}
		}
		if _, err := client.ListHistory(t.Context(), shim.HistoryFilter{Limit: -1}); err == nil ||
			!strings.Contains(err.Error(), "max_rows") {
			t.Errorf("a limit below 0: %v", err)
		}
	})
}
