package crontab

import (
	"errors"
	"fmt"
)

// Source is a source of items: an [Item], the [Text] of a crontab, or a crontab [File].
type Source interface {
	items() ([]Item, error)
}

// Text is the text of a crontab.
type Text string

// File is the path of a crontab file. [Collect] reads it each time it is called.
type File string

func (i Item) items() ([]Item, error) { return []Item{i}, nil }
func (t Text) items() ([]Item, error) { return Parse(string(t)) }
func (f File) items() ([]Item, error) { return Load(string(f)) }

// Collect returns the items of several sources in their order. Its error lists all problems of the sources, or the
// identifiers that occur twice; in that case it returns no items.
func Collect(sources ...Source) ([]Item, error) {
	var all []Item
	var problems []error
	for _, source := range sources {
		items, err := source.items()
		all, problems = append(all, items...), append(problems, err)
	}
	seen := make(map[string]bool)
	for _, item := range all {
		if seen[item.Identifier] {
			problems = append(problems, fmt.Errorf("identifier %q of a recurring job occurs twice", item.Identifier))
		}
		seen[item.Identifier] = true
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return all, nil
}
