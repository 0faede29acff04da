package shard

import (
	"errors"
	"fmt"
	"regexp"
)

// Map is a set of shards and their slots.
//
// Its slots are where a client begins: the databases themselves record which slots they have, and a client that asks the
// wrong shard learns the right one. So programs with an older map continue to work after slots were moved.
type Map struct {
	// Shards are the shards, in the order of the file.
	Shards []Shard

	// Home is the shard whose jobs a worker runs first, empty for the choice of each worker.
	Home string
}

// Shard is a database with a queue.
type Shard struct {
	// Name is the name of the shard, 1 to 40 lower-case letters, digits, _ and -, beginning with a letter. The database
	// records it, so it cannot be changed later.
	Name string

	// Connection is the connection string of the database.
	Connection string

	// Slots are the slots of the shard. A shard without slots gets no new jobs.
	Slots Slots
}

var name = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// CheckName returns an error if a text cannot be the name of a shard.
func CheckName(text string) error {
	if !name.MatchString(text) {
		return fmt.Errorf("%q cannot be the name of a shard: use 1 to 40 lower-case letters, digits, _ and -, with a letter first", text)
	}
	return nil
}

// Find returns the shard of a name.
func (m Map) Find(name string) (Shard, bool) {
	for _, s := range m.Shards {
		if s.Name == name {
			return s, true
		}
	}
	return Shard{}, false
}

// Names returns the names of the shards, in their order.
func (m Map) Names() []string {
	names := make([]string, len(m.Shards))
	for i, s := range m.Shards {
		names[i] = s.Name
	}
	return names
}

// Check returns an error that lists what is wrong with a map: a name that is invalid or occurs twice, a slot of no shard or of
// two, an unknown home.
func (m Map) Check() error {
	var problems []error
	if len(m.Shards) == 0 {
		problems = append(problems, errors.New("there is no shard"))
	}
	var taken Slots
	seen := make(map[string]bool)
	for _, s := range m.Shards {
		if err := CheckName(s.Name); err != nil {
			problems = append(problems, err)
		}
		if seen[s.Name] {
			problems = append(problems, fmt.Errorf("there are two shards %s", s.Name))
		}
		seen[s.Name] = true
		var both Slots
		for i := range s.Slots {
			both[i] = s.Slots[i] & taken[i]
			taken[i] |= s.Slots[i]
		}
		if both.Len() > 0 {
			problems = append(problems, fmt.Errorf("slots %s of shard %s belong to another shard, too", both, s.Name))
		}
	}
	if missing := taken.Missing(); missing.Len() > 0 && len(m.Shards) > 0 {
		problems = append(problems, fmt.Errorf("slots %s belong to no shard", missing))
	}
	if m.Home != "" && !seen[m.Home] {
		problems = append(problems, fmt.Errorf("the home %s is not one of the shards", m.Home))
	}
	return errors.Join(problems...)
}

// Missing returns the slots that are not in the set.
func (s Slots) Missing() (missing Slots) {
	for i := range s {
		missing[i] = ^s[i]
	}
	return missing
}
