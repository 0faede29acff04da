package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestARunIsRefusedThatMissedAJobOrRepeatedOne(t *testing.T) {
	if err := checkCounts([]uint32{2, 2, 2}, 2); err != nil {
		t.Errorf("each job ran as often as it should have: %v", err)
	}
	for name, c := range map[string]struct {
		counts []uint32
		want   string
	}{
		"missing":      {[]uint32{1, 0, 1}, "1 were executed fewer than 1 times and 0 more often, such as job 2, 0 times"},
		"twice":        {[]uint32{1, 1, 2}, "0 were executed fewer than 1 times and 1 more often, such as job 3, 2 times"},
		"one for each": {[]uint32{2, 1, 0}, "1 were executed fewer than 1 times and 1 more often, such as job 1, 2 times"},
	} {
		err := checkCounts(c.counts, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
	}
}

func TestCountsOfSeveralProcessesAddUp(t *testing.T) {
	dir := t.TempDir()
	counts := make([]uint32, 2)
	for name, content := range map[string]string{"a": "\x01\x00\x00\x00\x00\x01\x00\x00",
		"b": "\x02\x00\x00\x00\x00\x00\x00\x00"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := addCounts(counts, file); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(counts, []uint32{3, 256}) {
		t.Errorf("the counts are %d", counts)
	}
	if err := addCounts(make([]uint32, 3), filepath.Join(dir, "a")); err == nil {
		t.Error("want an error for a file about other jobs")
	}
}
