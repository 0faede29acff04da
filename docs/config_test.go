package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/config"
)

// keyTable is a part of run.md that comes from the descriptions of the config file's keys.
var keyTable = regexp.MustCompile(`(?s)(<!-- config: ([a-z ]+) -->\n).*?(<!-- end -->)`)

func TestTheReferenceOfTheConfigFileIsThatOfItsKeys(t *testing.T) {
	parts := map[string]string{
		"settings": renderNames(config.Settings()),
		"top":      renderKeys(config.Top()),
		"kinds":    renderKeys(config.Kinds()),
		"common":   renderKeys(config.Common()),
		"of kinds": renderKeysOfKinds(),
		"of limit": renderNames(config.OfLimit()),
	}
	before := read(t, "run.md")
	after := keyTable.ReplaceAllStringFunc(before, func(part string) string {
		match := keyTable.FindStringSubmatch(part)
		text, ok := parts[match[2]]
		if !ok {
			t.Errorf("run.md asks for the keys %q, which there are not", match[2])
		}
		delete(parts, match[2])
		return match[1] + text + match[3]
	})
	for name := range parts {
		t.Errorf("run.md lacks the keys %q", name)
	}
	if before == after {
		return
	}
	if !*update {
		t.Fatal("docs/run.md is not as internal/config has it; rewrite it by: go test ./docs -update")
	}
	if err := os.WriteFile("run.md", []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheSchemaOfTheConfigFileIsThatOfItsKeys(t *testing.T) {
	const path = "gw.schema.json"
	if before, err := os.ReadFile(path); err == nil && string(before) == string(config.Schema()) {
		return
	}
	if !*update {
		t.Fatal("docs/gw.schema.json is not as internal/config has it; rewrite it by: go test ./docs -update")
	}
	if err := os.WriteFile(path, config.Schema(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func renderNames(keys []config.Key) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = "`" + key.Name + "`"
	}
	return strings.Join(names, ", ") + ".\n"
}

func renderKeys(keys []config.Key) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(renderKey(key, ""))
	}
	return b.String()
}

// renderKey returns the line of a key, with what it takes and its default in brackets.
func renderKey(key config.Key, of string) string {
	takes := string(key.Takes)
	switch {
	case key.Default == "" || key.Default == "none":
	case key.Takes == config.YesNo:
		takes = "default " + key.Default
	default:
		takes += ", default " + key.Default
	}
	return fmt.Sprintf("- `%s`%s (%s): %s\n", key.Name, of, takes, key.Meaning)
}

// renderKeysOfKinds returns the keys that only some kinds of a task have. A key that is the same for several kinds has one
// line.
func renderKeysOfKinds() string {
	kinds := []config.Key{{Name: string(config.Folder)}}
	kinds = append(kinds, config.Kinds()...)
	var keys []config.Key
	of := make(map[config.Key][]string)
	for _, kind := range kinds {
		name := "`" + kind.Name + "`"
		if kind.Name == string(config.Folder) {
			name = "the folder"
		}
		for _, key := range config.OfKind(config.Kind(kind.Name)) {
			if of[key] == nil {
				keys = append(keys, key)
			}
			of[key] = append(of[key], name)
		}
	}
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(renderKey(key, " of "+strings.Join(of[key], ", ")))
	}
	return b.String()
}

// programs are those in the folder of a config file that it names.
var programs = regexp.MustCompile(`\./[\w.]+`)

func TestTheConfigFilesOfEachDocumentAreRight(t *testing.T) {
	count := 0
	for _, path := range documents(t) {
		for _, block := range blocks(t, path) {
			if block.language != "yaml" || block.source != "" {
				continue
			}
			dir := t.TempDir()
			for _, program := range programs.FindAllString(block.code, -1) {
				if err := os.WriteFile(filepath.Join(dir, program), nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			file, err := config.Parse(filepath.Join(dir, "gw.yaml"), block.code,
				func(string) string { return tourSecret })
			if err != nil {
				t.Errorf("%s:%d: %v", path, block.line, err)
			} else if len(file.Tasks) == 0 {
				t.Errorf("%s:%d: there are no tasks", path, block.line)
			}
			count++
		}
	}
	if count == 0 {
		t.Error("no document has a config file")
	}
}

func TestTheMistakesOfTheManualAreToldAsItSays(t *testing.T) {
	_, err := config.Parse("gw.yaml", "connection: app\njob: 2\n\n\n\n\n\ntasks:\n  a: {timeout: 30}\n", os.Getenv)
	if err == nil {
		t.Fatal("no mistake is found")
	}
	if text := "$ gw-run config check\ngw-run: " + err.Error() + "\n"; !strings.Contains(read(t, "run.md"), text) {
		t.Errorf("run.md does not show\n%s", text)
	}
}
