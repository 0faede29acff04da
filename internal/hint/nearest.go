// Package hint finds out what was meant by what was written wrong, and what to do about an error.
package hint

// Nearest returns the one of names that differs least from a word, empty if none differs by so few letters.
func Nearest(word string, names []string, most int) string {
	best, least := "", most+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many letters have to be put in, taken out or replaced to make b of a: Levenshtein's.
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
