package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/pkg/shard"
)

func TestAMapOfShardsIsReadFromTheConfigFileOrItsOwn(t *testing.T) {
	const text = `
shards:
  a: {connection: "postgres://a/${DATABASE}", slots: 0-127}
  b: {connection: "postgres://b/app", slots: "128-200, 202-255"}
  c: {connection: "postgres://c/app", slots: 201}
  new: {connection: "postgres://d/app"}
home: b
`
	want := &shard.Map{Home: "b", Shards: []shard.Shard{
		{Name: "a", Connection: "postgres://a/app", Slots: shard.Range(0, 127)},
		{Name: "b", Connection: "postgres://b/app"},
		{Name: "c", Connection: "postgres://c/app", Slots: shard.Range(201, 201)},
		{Name: "new", Connection: "postgres://d/app"},
	}}
	want.Shards[1].Slots, _ = shard.ParseSlots("128-200, 202-255")
	getenv := func(name string) string { return map[string]string{"DATABASE": "app"}[name] }
	got, err := config.ParseShards("map.yaml", text, getenv)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the file of shards is %+v, error %v, want %+v", got, err, want)
	}
	file, err := config.Parse("gw.yaml", "jobs: 3"+text, getenv)
	if err != nil || !reflect.DeepEqual(file.Shards, want) {
		t.Errorf("the config file has %+v, error %v, want %+v", file, err, want)
	}
}

func TestAMistakeInAMapOfShardsHasItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"shards:\n  a: {connection: x, slots: 0-99}\n  b: {connection: y, slots: 101-255}":  "map.yaml:1:1: slots 100 belong to no shard; the shards together must have the slots 0-255",
		"shards:\n  a: {connection: x, slots: 0-128}\n  b: {connection: y, slots: 128-255}": "map.yaml:3:29: slots 128 belong to shard a, too; remove them from one of the two",
		"shards:\n  a: {connection: x, slots: 0-256}":                                       `map.yaml:2:29: slots of shard a: "0-256" is out of range: slots are 0 to 255`,
		"shards:\n  a: {slots: 0-255}":                                                      "map.yaml:2:3: shard a has no connection; set it to the URL of its database",
		"shards:\n  'a:1': {connection: x, slots: 0-255}":                                   `map.yaml:2:3: "a:1" cannot be the name of a shard`,
		"shards:\n  a: {connection: x, slot: 0-255}":                                        "map.yaml:2:22: there is no key slot in a shard; is slots meant?",
		"shards:\n  a: {connection: x, slots: 0-255}\n  a: {connection: x}":                 "map.yaml:3:3: a occurs twice, first in line 2; remove one of them",
		"shards:\n  a: {connection: x, slots: 0-255}\nhome: c":                              "map.yaml:3:7: there is no shard c; home is auto or the name of a shard",
		"shards: {}": "map.yaml:1:9: shards is empty",
		"shards:\n  a: {connection: '${NONE}', slots: 0-255}": "the environment variable NONE is not set",
		"home: a":   "map.yaml:1:1: there are no shards",
		"jobs: 3":   "map.yaml:1:1: there is no key jobs in a file of shards; the keys are shards, home",
		"shards: 3": "map.yaml:1:9: shards takes keys with values",
	} {
		_, err := config.ParseShards("map.yaml", text, func(string) string { return "" })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
	if _, err := config.Parse("gw.yaml", "home: a", os.Getenv); err == nil || !strings.Contains(err.Error(), "gw.yaml:1:7: home without shards") {
		t.Errorf("home alone in the config file: %v", err)
	}
}
