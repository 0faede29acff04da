package crontab_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/crontab"
)

var megabytes = flag.Int("crontab.megabytes", 1, "how many `megabytes` a large crontab has")

func TestALargeCrontabIsReadOrRefusedLineByLine(t *testing.T) {
	t.Parallel()
	var good, bad strings.Builder
	lines, size := 0, *megabytes<<20
	for ; good.Len() < size; lines++ {
		if lines == 1000 {
			fmt.Fprint(&bad, strings.Repeat("\n", size))
		}
		fmt.Fprintf(&good, "*/5 * * * * task ?id=item%d&max=3 {n: %d, text: 'some text that makes the line longer'}\n",
			lines, lines)
		if lines < 1000 {
			fmt.Fprintf(&bad, "*/5 * * 99 * task ?id=item%d {n: \n", lines)
		}
	}
	items, err := crontab.Parse(good.String())
	if err != nil || len(items) != lines {
		t.Errorf("%d of %d items: %v", len(items), lines, err)
	}
	if _, err := crontab.Parse(bad.String()); err == nil || !strings.Contains(err.Error(), "'99' in months") {
		t.Errorf("what cannot be read is no error")
	}
	if _, err := crontab.Parse("* * * * * task " + strings.Repeat("[", size)); err == nil {
		t.Error("a payload without an end is no error")
	}
}
