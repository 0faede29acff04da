package config

import (
	"fmt"
	"os"

	"github.com/gwsql/gw/pkg/shard"
)

// OfShard returns the keys of a shard.
func OfShard() []Key {
	return []Key{
		{"connection", Text, "", "The database of the shard, as for the top-level key.", ""},
		{"slots", Text, "none", "Its slots, such as `0-63, 200`. The shards together have the slots 0 to 255, each of them once.", ""},
	}
}

// LoadShards reads a file that contains only the keys shards and home. Its errors are [Problems], except errors of reading the
// file.
func LoadShards(path string, getenv func(string) string) (*shard.Map, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read shards: %w", err)
	}
	return ParseShards(path, string(text), getenv)
}

// ParseShards parses the text of such a file at path.
func ParseShards(path, text string, getenv func(string) string) (*shard.Map, error) {
	r := newReader(path, getenv)
	file := &File{Path: path}
	body := r.body(text)
	at := Position{Path: path, Line: 1, Column: 1}
	for _, e := range r.entries(body, at, "a file of shards") {
		if !r.shardKey(file, e) {
			r.unknown(e, " in a file of shards", []string{"shards", "home"})
		}
	}
	if file.Shards == nil && len(r.problems) == 0 {
		r.refuse(at, "there are no shards; write shards: with a name, a connection and slots for each")
	}
	r.checkShards(file)
	if err := r.problems.OrNil(); err != nil {
		return nil, err
	}
	return file.Shards, nil
}

// shardKey reads the top-level keys about shards, and returns whether e is one of them.
func (r *reader) shardKey(file *File, e entry) bool {
	switch e.name {
	case "shards":
		file.Shards = &shard.Map{Shards: r.shards(e)}
		file.shardsAt = e.at
	case "home":
		file.home, file.homeAt = r.text(e), r.valueAt(e)
	default:
		return false
	}
	return true
}

func (r *reader) shards(e entry) (list []shard.Shard) {
	owners := make(map[int]string)
	pairs := r.entries(e.value, r.valueAt(e), e.name)
	if len(pairs) == 0 && len(r.problems) == 0 {
		r.refuse(r.valueAt(e), "shards is empty; write a name, a connection and slots for each shard, or remove the key")
	}
	for _, pair := range pairs {
		if err := shard.CheckName(pair.name); err != nil {
			r.refuse(pair.at, "%s", err)
		}
		s := shard.Shard{Name: pair.name}
		for _, inner := range r.entries(pair.value, r.valueAt(pair), "shard "+pair.name) {
			switch inner.name {
			case "connection":
				s.Connection = r.text(inner).Value
			case "slots":
				s.Slots = r.slots(inner, s.Name, owners)
			default:
				r.unknown(inner, " in a shard", names(OfShard()))
			}
		}
		if s.Connection == "" && len(r.problems) == 0 {
			r.refuse(pair.at, "shard %s has no connection; set it to the URL of its database", s.Name)
		}
		list = append(list, s)
	}
	return list
}

// slots reads the slots of a shard, and refuses those that another one has. owners are the shards by their slots.
func (r *reader) slots(e entry, name string, owners map[int]string) shard.Slots {
	text, ok := r.scalar(e)
	if !ok {
		return shard.Slots{}
	}
	slots, err := shard.ParseSlots(text.Value)
	if err != nil {
		r.refuse(r.valueAt(e), "slots of shard %s: %s", name, err)
		return shard.Slots{}
	}
	both := make(map[string]*shard.Slots)
	for _, slot := range slots.List() {
		if other, taken := owners[slot]; taken {
			if both[other] == nil {
				both[other] = new(shard.Slots)
			}
			both[other].Add(slot)
		}
		owners[slot] = name
	}
	for other, taken := range both {
		r.refuse(r.valueAt(e), "slots %s belong to shard %s, too; remove them from one of the two", taken, other)
	}
	return slots
}

// checkShards checks what depends on several keys, once all of them are read.
func (r *reader) checkShards(file *File) {
	switch {
	case len(r.problems) > 0:
		return
	case file.Shards == nil && file.home.Written != "":
		r.refuse(file.homeAt, "home without shards; add shards, or remove the key")
		return
	case file.Shards == nil:
		return
	}
	var all shard.Slots
	for _, s := range file.Shards.Shards {
		for i := range all {
			all[i] |= s.Slots[i]
		}
	}
	if missing := all.Missing(); missing.Len() > 0 {
		r.refuse(file.shardsAt, "slots %s belong to no shard; the shards together must have the slots 0-255", missing)
	}
	if home := file.home.Value; home != "" && home != "auto" {
		if _, ok := file.Shards.Find(home); !ok {
			r.refuse(file.homeAt, "there is no shard %s; home is auto or the name of a shard", home)
		}
		file.Shards.Home = home
	}
}
