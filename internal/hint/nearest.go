// Package hint suggests the right name for a misspelt one, and a remedy for an error.
package hint

// Nearest returns the name that differs least from a word, "" if every name differs by more than most letters.
func Nearest(word string, names []string, most int) string {
	best, least := "", most+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the Levenshtein distance: how many letters must be inserted, deleted or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
