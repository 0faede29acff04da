package lint

import (
	"archive/zip"
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestTheZipForPGXNIsWhatPGXNTakes(t *testing.T) {
	build := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "dist-pgxn", "VERSION=0.1.0", "BUILD="+build)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
	archive, err := zip.OpenReader(filepath.Join(build, "graphile_worker-0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files, err := fs.Sub(archive, "graphile_worker-0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	meta := checkMeta(t, files)
	if meta["version"] != "0.1.0" {
		t.Errorf("version %v", meta["version"])
	}
	provided := meta["provides"].(map[string]any)["graphile_worker"].(map[string]any)
	for _, name := range []string{"LICENSE", "Makefile", "graphile_worker.control", provided["file"].(string), provided["docfile"].(string)} {
		if _, err := fs.Stat(files, name); err != nil {
			t.Error(err)
		}
	}
}

// checkMeta returns META.json, which must be as the schema says.
func checkMeta(t *testing.T, files fs.FS) map[string]any {
	t.Helper()
	file, err := files.Open("META.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	meta, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("testdata/pgxn-meta.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(meta); err != nil {
		t.Errorf("META.json: %v", err)
	}
	return meta.(map[string]any)
}
