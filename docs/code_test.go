package docs_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The SQL of a document, but for what is tested elsewhere, is one psql session from top to bottom, in a database where the
// queue is installed.
func TestTheSQLOfEachDocumentRuns(t *testing.T) {
	for _, path := range documents(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			psql := exec.CommandContext(t.Context(), "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1",
				"--file", "-", pgtest.Database(t))
			psql.Stdin = strings.NewReader(session(t, path))
			if output, err := psql.CombinedOutput(); err != nil {
				t.Errorf("psql counts the lines of %s: %v\n%s", path, err, output)
			}
		})
	}
}

// session returns the SQL of a document, each statement on the line where it stands there, so that psql's complaints
// point into the document.
func session(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	line := 1
	for _, block := range blocks(t, path) {
		if block.language == "sql" && block.source == "" {
			b.WriteString(strings.Repeat("\n", block.line-line) + block.code)
			line = block.line + strings.Count(block.code, "\n")
		}
	}
	return b.String()
}

func TestCodeThatIsTestedElsewhereStandsThereWordForWord(t *testing.T) {
	for _, path := range documents(t) {
		for _, block := range blocks(t, path) {
			if block.source != "" && !strings.Contains(read(t, filepath.Join(root, block.source)), block.code) {
				t.Errorf("%s:%d: this code is not in %s", path, block.line, block.source)
			}
		}
	}
}

func TestGoCodeIsTakenFromWhatCompiles(t *testing.T) {
	for _, path := range documents(t) {
		for _, block := range blocks(t, path) {
			if block.language == "go" && filepath.Ext(block.source) != ".go" {
				t.Errorf("%s:%d: this code says no Go file that it is taken from", path, block.line)
			}
		}
	}
}

// Every example must be shown in a document; otherwise readers would not find it.
func TestEveryExampleIsShown(t *testing.T) {
	for document, pattern := range map[string]string{
		"enqueue.md":  "examples/enqueue/*.*",
		"handlers.md": "examples/receive/*.*",
		"sql.md":      "tests/sql/examples/*.sql",
		"work.md":     "examples/work/*.*",
	} {
		examples, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, block := range blocks(t, document) {
			shown = append(shown, filepath.Join(root, block.source))
		}
		for _, example := range examples {
			if name := filepath.Base(example); name == "go.mod" || name == "go.sum" {
				continue
			}
			if !slices.Contains(shown, example) {
				t.Errorf("docs/%s does not show %s", document, example)
			}
		}
	}
}

// A reader takes them from the page: no line may be missing. In Go, what every program begins with is left out.
func TestExamplesInOtherLanguagesAreShownWhole(t *testing.T) {
	for _, path := range documents(t) {
		for _, block := range blocks(t, path) {
			if !strings.HasPrefix(block.source, "examples/") || block.language == "go" {
				continue
			}
			if block.code != read(t, filepath.Join(root, block.source)) {
				t.Errorf("%s:%d: this is not the whole of %s", path, block.line, block.source)
			}
		}
	}
}

// Users may paste README's worker by hand while the queue is empty, because their worker has already run the job.
func TestTheJobThatIsWorkedByHandNeedNotBeThere(t *testing.T) {
	t.Parallel()
	for _, block := range blocks(t, filepath.Join(root, "README.md")) {
		if !strings.Contains(block.code, "graphile_worker.get_job(") {
			continue
		}
		psql := exec.CommandContext(t.Context(), "psql", "--no-psqlrc", "--quiet", "--dbname", pgtest.Database(t))
		psql.Stdin = strings.NewReader(block.code)
		if output, err := psql.CombinedOutput(); err != nil || string(output) != "no rows returned for \\gset\n" {
			t.Errorf("%v, it prints\n%s", err, output)
		}
		return
	}
	t.Error("README.md works no job by hand")
}
