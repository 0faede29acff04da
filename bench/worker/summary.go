package main

import (
	"slices"

	"github.com/gwsql/gw/bench/internal/report"
)

// A goal is a row of the summary: a budget, and what was measured on each server.
type goal struct {
	what, budget string
	found        map[string]string // by version
}

// result adds a measured value with its budget to the summary.
func (b *bench) result(what, found, budget, holds string) {
	b.reach(b.Version, what, found, budget, holds)
}

func (o *outcome) reach(version, what, found, budget, holds string) {
	if holds == "**no**" {
		found = "**" + found + "**"
	}
	i := slices.IndexFunc(o.goals, func(g goal) bool { return g.what == what && g.budget == budget })
	if i < 0 {
		i = len(o.goals)
		o.goals = append(o.goals, goal{what: what, budget: budget, found: map[string]string{}})
	}
	o.goals[i].found[version] = found
}

// summary returns the goals, with a column for each version.
func (o *outcome) summary() report.Table {
	var versions []string
	for _, g := range o.goals {
		for version := range g.found {
			if !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
	}
	slices.Sort(versions)
	t := report.Table{append([]string{"what", "goal"}, versions...)}
	for _, g := range o.goals {
		row := []string{g.what, g.budget}
		for _, version := range versions {
			row = append(row, g.found[version])
		}
		t.Add(row...)
	}
	return t
}

// A measured is the table of a scenario on one server.
type measured struct {
	title, version string
	table          report.Table
}

// Table writes a table, and keeps it for the end of the report.
func (b *bench) Table(t report.Table) {
	b.Bench.Table(t)
	b.tables = append(b.tables, measured{title: b.Title, version: b.Version, table: t})
}

// byTitle returns the tables of each scenario, in order.
func byTitle(all []measured) (scenarios [][]measured) {
	for _, m := range all {
		i := slices.IndexFunc(scenarios, func(s []measured) bool { return s[0].title == m.title })
		if i < 0 {
			scenarios = append(scenarios, []measured{m})
			continue
		}
		scenarios[i] = append(scenarios[i], m)
	}
	return scenarios
}

// sideBySide joins the tables of a scenario: first the columns that are the same on all servers, then the others of
// each server.
func sideBySide(all []measured) report.Table {
	joined := slices.Clone(all[0].table)
	if len(all) == 1 {
		return joined
	}
	same := len(joined[0])
	for _, m := range all[1:] {
		for i := range min(len(joined), len(m.table)) {
			for same > 0 && !slices.Equal(joined[i][:same], m.table[i][:same]) {
				same--
			}
		}
	}
	for i, row := range joined {
		joined[i] = slices.Clone(row[:same])
		for _, m := range all {
			cells := slices.Clone(m.table[i][same:])
			if i == 0 {
				cells[0] = m.version + ": " + cells[0]
			}
			joined[i] = append(joined[i], cells...)
		}
	}
	return joined
}
