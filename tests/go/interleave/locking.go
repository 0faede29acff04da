package interleave

import "slices"

// A locking is a clause FOR UPDATE, FOR SHARE or the like of a SELECT, and the names of the tables and views whose rows it locks.
type locking struct {
	update bool // of UPDATE, else SHARE
	key    bool // FOR NO KEY UPDATE, FOR KEY SHARE
	skips  bool // SKIP LOCKED or NOWAIT
	names  []string
}

// lockings returns the locking clauses of a statement.
func lockings(statement string) (found []locking) {
	var words []string
	for _, t := range scan(statement) {
		words = append(words, t.text)
	}
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
		l.names = lockedNames(words[:at], of)
		found = append(found, l)
	}
	return found
}

// lockedNames returns the names of the schema in the FROM of the SELECT that ends here, of these aliases if all of them are
// aliases of such names. It includes those of sub-selects there, but not those of the conditions.
func lockedNames(words, of []string) []string {
	from, to, depth := 0, len(words), 0
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
	var all, named []string
	for i := from; i+2 < to; i++ {
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
