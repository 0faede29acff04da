package interleave

import (
	"slices"
	"strings"
)

// A class is the rows of a table in a state that statements name in their conditions. Such a statement does not depend
// on the other rows of the table, as long as they do not get into that state.
type class struct {
	table      string
	name       string
	conditions []string // of statements
	sql        string   // what is true of a row r of the class
}

// classes has a class before those that contain it.
var classes = []class{
	{"_private_jobs", "plain", []string{"is_available", "job_queue_id is null"},
		"r.is_available and r.job_queue_id is null"},
	{"_private_jobs", "queued", []string{"is_available", "job_queue_id > 0"},
		"r.is_available and r.job_queue_id is not null"},
	{"_private_jobs", "available", []string{"is_available"}, "r.is_available"},
	{"_private_job_queues", "free", []string{"locked_at is null"}, "r.locked_at is null"},
}

func (c class) String() string { return c.table + " " + c.name }

// classesOf returns the classes of a table.
func classesOf(table string) (all []class) {
	for _, c := range classes {
		if c.table == table {
			all = append(all, c)
		}
	}
	return all
}

// A mention is where a text names a table: in a FROM, or as what a statement changes.
type mention struct {
	table   string
	alias   string
	where   string // the condition of its statement, without what stands in parentheses and CASE expressions
	byPlace bool   // the condition takes the places of the rows from another part of the statement
}

// mentionAt returns the mention of a table of the schema that begins with word i.
func mentionAt(words []string, i int) (m mention, ok bool) {
	if i+2 >= len(words) || strings.Trim(words[i], `"`) != "graphile_worker" || words[i+1] != "." {
		return m, false
	}
	m = mention{table: words[i+2], alias: words[i+2]}
	rest := words[i+3:]
	if len(rest) > 1 && rest[0] == "as" {
		m.alias, rest = rest[1], rest[2:]
	}
	var found []string
	depth, behind := 0, false
	for n, word := range rest {
		closes := slices.Contains([]string{")", "]", "end"}, word)
		if closes {
			depth--
		}
		if depth < 0 || depth == 0 && slices.Contains(ends, word) {
			break
		}
		if behind && depth == 0 {
			m.byPlace = m.byPlace || isByPlace(rest[n-1:], m.alias)
			found = append(found, word)
		}
		if slices.Contains([]string{"(", "[", "case"}, word) {
			depth++
		}
		behind = behind || depth == 0 && word == "where"
	}
	m.where = " and " + strings.Join(found, " ") + " and "
	return m, true
}

// ends are the words behind the condition of a statement.
var ends = []string{";", "union", "intersect", "except", "group", "having", "window", "order", "limit", "offset",
	"fetch", "for",
	"into", "returning", "then", "loop", "when", "else", "elsif"}

// isByPlace reports whether a condition that begins here compares the place of a row with those of a sub-select or
// another table.
func isByPlace(words []string, alias string) bool {
	text := strings.Join(words[:min(len(words), 10)], " ") + " "
	for _, before := range []string{"and ", "where "} {
		if places, ok := strings.CutPrefix(text, before+alias+" . ctid = "); ok {
			_, column, _ := strings.Cut(places, " ")
			return strings.HasPrefix(places, "any ( ( select ") || strings.HasPrefix(places, "any ( array ( select ") ||
				strings.HasPrefix(column, ". ctid ")
		}
	}
	return false
}

// rows returns the rows that fulfill the condition: a class, or all as the name of the table.
func (m mention) rows() string {
	if strings.Contains(m.where, " or ") {
		return m.table
	}
	for _, c := range classesOf(m.table) {
		if !slices.ContainsFunc(c.conditions, func(condition string) bool {
			return !strings.Contains(m.where, " and "+m.alias+" . "+condition+" and ")
		}) {
			return c.String()
		}
	}
	return m.table
}

// mentionedRows returns the rows of tables with classes that a text reads, as classes or the names of the tables. Rows
// that it reads by their places count where it has found these.
func mentionedRows(text string) set {
	rows, byPlace := set{}, set{}
	words := wordsOf(text)
	for i, word := range words {
		for _, c := range classes {
			if strings.HasPrefix(word, "'") && strings.Contains(word, c.table) { // a regclass
				rows[c.table] = true
			}
		}
		m, ok := mentionAt(words, i)
		if !ok || len(classesOf(m.table)) == 0 {
			continue
		}
		if m.byPlace && m.rows() == m.table {
			byPlace[m.table] = true
		} else {
			rows[m.rows()] = true
		}
	}
	for table := range byPlace {
		if !tablesOf(rows)[table] {
			rows[table] = true
		}
	}
	return rows
}
