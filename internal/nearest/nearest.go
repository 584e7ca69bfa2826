// Package nearest finds what a misspelt word may have been meant to be.
package nearest

import (
	"slices"
	"strings"
)

// Of returns the candidate that word may have been meant to be, or "": the one whose last part it is, else the one
// with the fewest edits, of which there may be one for three letters. Among equals the first.
func Of(word string, candidates []string) string {
	word = strings.ToLower(word)
	if word == "" || len(word) > 64 {
		return ""
	}
	if i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasSuffix(c, "."+word) }); i >= 0 {
		return candidates[i]
	}
	best, fewest := "", (len(word)+1)/3+1
	for _, c := range candidates {
		if n := distance(word, strings.ToLower(c)); n < fewest {
			best, fewest = c, n
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with the next to get from a to b (Levenshtein
// distance with transpositions of neighbours).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
