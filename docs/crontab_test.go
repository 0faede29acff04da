package docs_test

import (
	"testing"

	"github.com/gwsql/gw/pkg/crontab"
)

func TestTheCrontabsOfEachDocumentAreRight(t *testing.T) {
	count := 0
	for _, path := range documents(t) {
		for _, block := range blocks(t, path) {
			if block.language != "crontab" {
				continue
			}
			items, err := crontab.Parse(block.code)
			if err != nil || len(items) == 0 {
				t.Errorf("%s:%d: %d items\n%v", path, block.line, len(items), err)
			}
			count++
		}
	}
	if count == 0 {
		t.Error("no document has a crontab")
	}
}
