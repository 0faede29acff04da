package crontab_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

func TestAnItemIsTheJSONOfTheDatabase(t *testing.T) {
	for want, item := range map[string]crontab.Item{
		`{"identifier":"a","task":"b","pattern":"* * * * *"}`: {Identifier: "a", Task: "b", Pattern: "* * * * *",
			Line: 7},
		`{"identifier":"a","task":"b","pattern":"* * * * *","time_zone":"UTC","payload":{"c":"<&>"},"fill":5400,` +
			`"max_attempts":3,"queue_name":"q<","priority":-1,"job_key":"k","job_key_mode":"replace"}`: {
			Identifier: "a", Task: "b", Pattern: "* * * * *", TimeZone: "UTC", Payload: json.RawMessage(`{"c":"<&>"}`),
			Fill: 90 * time.Minute, MaxAttempts: 3, QueueName: "q<", Priority: -1, JobKey: "k",
			JobKeyMode: crontab.Replace,
		},
	} {
		if got, err := item.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("got %s and %v, want %s", got, err, want)
		}
	}
}

func TestItemsAreAJSONArray(t *testing.T) {
	items, err := crontab.Parse("* * * * * a {b: [0x10, Infinity]}\n* * * * * c")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(items)
	const want = `[{"identifier":"a","task":"a","pattern":"* * * * *","payload":{"b":[16,null]}},` +
		`{"identifier":"c","task":"c","pattern":"* * * * *"}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s and %v, want %s", got, err, want)
	}
}
