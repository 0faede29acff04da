package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLinksWithinTheRepositoryLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, path := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, path), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", path, match[1], err)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s links to %s, but there is no such heading", path, match[1])
			}
		}
	}
}

// docs/README.md is the index.
func TestEveryPageIsInTheIndex(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	index := read(t, "README.md")
	for _, page := range pages {
		if page != "README.md" && !strings.Contains(index, "]("+page+")") {
			t.Errorf("README.md has no link to %s", page)
		}
	}
}

// anchors returns the names under which the headings of a document can be linked to.
func anchors(t *testing.T, path string) []string {
	t.Helper()
	notInAnchor := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(read(t, path), -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}
