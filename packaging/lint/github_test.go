package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A module or package that is missing there gets no updates.
func TestDependabotKnowsEveryModule(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"gomod": "go.mod", "npm": "package.json"}
	for _, update := range config.Updates {
		if file := files[update.Ecosystem]; file != "" {
			if found := foldersWith(t, file); !slices.Equal(found, update.Directories) {
				t.Errorf("%s: %v, but the files are in %v", update.Ecosystem, update.Directories, found)
			}
		}
	}
}

// foldersWith returns the folders of the repository that contain a file, sorted.
func foldersWith(t *testing.T, file string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "build", "dist"}, entry.Name()):
			return fs.SkipDir
		case entry.Name() == file:
			found = append(found, "/"+strings.TrimPrefix(filepath.Dir(path), "."))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func TestTheFormForBugsAsksForVersionsAndDoctor(t *testing.T) {
	var form struct {
		Name, Description string
		Labels            []string
		Body              []struct {
			Type, ID    string
			Attributes  struct{ Label, Description, Render string }
			Validations struct{ Required bool }
		}
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, ".github/ISSUE_TEMPLATE/bug.yml")), &form); err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, field := range form.Body {
		if field.Validations.Required {
			required = append(required, field.ID)
		}
	}
	if want := []string{"what", "versions", "doctor"}; !slices.Equal(required, want) {
		t.Errorf("the form wants %v", required)
	}
}
