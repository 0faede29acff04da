package crontab_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

func ExampleParse() {
	items, err := crontab.Parse(`
# Mondays at 04:30 UTC, and up to a day later if there was no worker
30 4 * * 1 send_weekly_email ?fill=1d&max=10 {onboarding: false}
*/10 9-17 * * 1-5 sync_metrics ?tz=Europe/Berlin
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.Pattern, item.Task, item.Fill, item.TimeZone, string(item.Payload))
	}
	// Output:
	// 30 4 * * 1 send_weekly_email 24h0m0s  {"onboarding":false}
	// */10 9-17 * * 1-5 sync_metrics 0s Europe/Berlin
}

func ExampleError() {
	_, err := crontab.Parse("0 24 * * * nightly ?max=ten\n@hourly sweep")
	fmt.Println(err)
	// Output:
	// 1:3: Too large value '24' in hours range in line 1 of crontab: expected values in the range 0-23.
	// 1:25: Options on line 1 of crontab contains invalid value for 'max', value 'ten' is not compatible with this option.
	// 2:1: Could not process line '2' of crontab: '@hourly sweep' (write 0 * * * * in place of @hourly)
}

func ExampleDailyAt() {
	type digest struct {
		Account int `json:"account"`
	}
	item, err := crontab.DailyAt("send_digest", 8, 0, &crontab.Options{
		ID:       "morning",
		Fill:     time.Hour,
		Payload:  digest{Account: 42},
		TimeZone: "Europe/Berlin",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(item)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {"identifier":"morning","task":"send_digest","pattern":"0 8 * * *","time_zone":"Europe/Berlin","payload":{"account":42},"fill":3600}
}
