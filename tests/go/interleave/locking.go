package interleave

import (
	"maps"
	"slices"
)

// A locking is a clause FOR UPDATE, FOR SHARE or the like of a SELECT, and the names of the tables and views whose rows
// it locks.
type locking struct {
	update bool // of UPDATE, else SHARE
	key    bool // FOR NO KEY UPDATE, FOR KEY SHARE
	skips  bool // SKIP LOCKED or NOWAIT
	names  []string
	rows   set // those of a table that is the only name to which it comes, as classes or the name of the table
}

// lockings returns the locking clauses of a statement.
func lockings(statement string) (found []locking) {
	words := wordsOf(statement)
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	for at := range words {
		i := at + 1
		l := locking{}
		if word(at) != "for" {
			continue
		}
		if word(i) == "no" {
			i++
		}
		if word(i) == "key" {
			l.key = true
			i++
		}
		if l.update = word(i) == "update"; !l.update && word(i) != "share" {
			continue
		}
		var of []string
		for i++; word(i) == "of" || word(i) == "," && len(of) > 0; i += 2 {
			of = append(of, word(i+1))
		}
		l.skips = word(i) == "skip" || word(i) == "nowait"
		from, to := fromOf(words[:at])
		if l.names = lockedNames(words[from:to], of); len(l.names) == 1 {
			l.rows = lockedRows(words, from, l.names[0], mentionedRows(statement))
		}
		found = append(found, l)
	}
	return found
}

func wordsOf(text string) (words []string) {
	for _, t := range scan(text) {
		words = append(words, t.text)
	}
	return words
}

// fromOf returns where the FROM of the SELECT that ends here begins and ends.
func fromOf(words []string) (from, to int) {
	depth := 0
	to = len(words)
	for i := len(words) - 1; i >= 0; i-- {
		switch words[i] {
		case ")", "]":
			depth++
		case "(", "[":
			depth--
		case "where", "order", "limit":
			if depth == 0 {
				to = i
			}
		case "from":
			if depth == 0 && i > 0 && words[i-1] != "distinct" {
				from = i
			}
		}
		if depth < 0 || depth == 0 && (from > 0 || words[i] == "select") {
			break
		}
	}
	return from, to
}

// lockedNames returns the names of the schema in a FROM, of these aliases if all of them are aliases of such names. It
// includes those of sub-selects there, but not those of the conditions.
func lockedNames(words, of []string) []string {
	var all, named []string
	for i := 0; i+2 < len(words); i++ {
		if words[i] != `"graphile_worker"` && words[i] != "graphile_worker" || words[i+1] != "." {
			continue
		}
		alias := words[i+2]
		if i+4 < len(words) && words[i+3] == "as" {
			alias = words[i+4]
		}
		all = append(all, words[i+2])
		if slices.Contains(of, alias) {
			named = append(named, words[i+2])
		}
	}
	if len(of) > 0 && len(named) == len(of) {
		return named
	}
	return all
}

// lockedRows returns the rows to which the locking of a table comes whose FROM begins here. Those at places that other
// parts of the statement have found are among the rows that these read.
func lockedRows(words []string, from int, table string, read set) set {
	for i := from; i < len(words); i++ {
		m, ok := mentionAt(words, i)
		if !ok || m.table != table {
			continue
		}
		if !m.byPlace || m.rows() != table {
			return set{m.rows(): true}
		}
		rows := maps.Clone(read)
		maps.DeleteFunc(rows, func(name string, _ bool) bool { return tableOf(name) != table })
		return rows
	}
	return set{table: true}
}
