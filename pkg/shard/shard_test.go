package shard_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/shard"
)

// The numbers are those of sha256sum.
func TestASlotIsTheFirstByteOfTheHashOfTheKey(t *testing.T) {
	for key, want := range map[string]int{"": 0xe3, "a": 0xca, "tenant-42": 0xf7, "Ü": 0x91} {
		if got := shard.Slot(key); got != want {
			t.Errorf("the slot of %q is %d, want %d", key, got, want)
		}
	}
}

func TestASetOfSlotsIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"0-255": "0-255", " 1 - 3,7": "1-3, 7", "5,4,3": "3-5", "none": "none", "255": "255", "0": "0",
	} {
		s, err := shard.ParseSlots(text)
		if err != nil || s.String() != want {
			t.Errorf("%q is %s, error %v, want %s", text, s, err, want)
		}
		again, err := shard.ParseSlots(s.String())
		if err != nil || again != s {
			t.Errorf("%s is read as %s, error %v", s, again, err)
		}
		if missing := s.Missing(); missing.Len()+s.Len() != shard.Count {
			t.Errorf("%s has %d slots and lacks %d", s, s.Len(), missing.Len())
		}
	}
	for text, want := range map[string]string{
		"":      `"" is neither a slot nor a range`,
		"a-b":   `"a-b" is neither a slot nor a range`,
		"0-256": `"0-256" is out of range: slots are 0 to 255`,
		"9-3":   `"9-3" is an empty range; write the lower slot first`,
		"1-3,2": "slot 2 occurs twice",
	} {
		if _, err := shard.ParseSlots(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAMapNamesAllItsProblems(t *testing.T) {
	low, high := shard.Range(0, 127), shard.Range(128, 255)
	for _, c := range []struct {
		is   shard.Map
		want string
	}{
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: low}, {Name: "b", Slots: high}}, Home: "b"}, ""},
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: shard.Range(0, 255)}, {Name: "new"}}}, ""},
		{shard.Map{}, "there is no shard"},
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: low}}}, "slots 128-255 belong to no shard"},
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: low}, {Name: "b", Slots: shard.Range(127, 255)}}}, "slots 127 of shard b belong to another shard"},
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: low}, {Name: "a", Slots: high}}}, "there are two shards a"},
		{shard.Map{Shards: []shard.Shard{{Name: "A:1", Slots: shard.Range(0, 255)}}}, `"A:1" cannot be the name of a shard`},
		{shard.Map{Shards: []shard.Shard{{Name: "a", Slots: shard.Range(0, 255)}}, Home: "b"}, "the home b is not one of the shards"},
	} {
		err := c.is.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.is.Names(), err, c.want)
		}
	}
}
