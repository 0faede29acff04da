package lint

import (
	"archive/tar"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/blakesmith/ar"
	rpmutils "github.com/sassoftware/go-rpmutils"
)

func TestWhatReleasesContainIsGenerated(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "packaging/release/files.sh")
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
	generated(t)
	licensed(t)
}

// make lint-release names the folder with what GoReleaser wrote.
func TestEachFileOfAReleaseContainsEverything(t *testing.T) {
	dist := os.Getenv("GW_TEST_DIST")
	if dist == "" {
		t.Skip("GW_TEST_DIST is not set: make lint-release makes a release")
	}
	archive := []string{"gw-run", "gw-migrate", "LICENSE", "README.md", "CHANGELOG.md"}
	deb := []string{"usr/bin/gw-run", "usr/bin/gw-migrate", "usr/share/doc/gw/LICENSE", "etc/gw-run/env",
		"usr/lib/systemd/system/gw-run.service", "usr/lib/systemd/system/gw-run@.service"}
	rpm := slices.Clone(deb)
	for _, name := range generated(t) {
		archive = append(archive, name)
		deb = append(deb, installed(name, "usr/share/zsh/vendor-completions"))
		rpm = append(rpm, installed(name, "usr/share/zsh/site-functions"))
	}
	paths, err := filepath.Glob(filepath.Join(dist, "*_checksums.txt"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("checksums %v, %v", paths, err)
	}
	sums, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, string(sums), filepath.Join(dist, "*.tar.gz"), 4, inArchive, archive)
	checkFiles(t, string(sums), filepath.Join(dist, "*.deb"), 2, inDeb, deb)
	checkFiles(t, string(sums), filepath.Join(dist, "*.rpm"), 2, inRPM, rpm)
	if !strings.Contains(string(sums), "  graphile_worker-") {
		t.Error("there is no checksum of the zip for PGXN")
	}
	checkLicenses(t, dist)
}

// generated returns what the release contains beside the programs and the files of the repository.
func generated(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "build/release")), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"licenses/list.txt", "licenses/go/LICENSE", "licenses/github.com/jackc/pgx/v5/LICENSE",
		"licenses/github.com/prometheus/procfs/NOTICE"}
	for _, program := range []string{"gw-run", "gw-migrate"} {
		want = append(want, "man/"+program+".1")
		for _, shell := range []string{"bash", "zsh", "fish"} {
			want = append(want, "completions/"+program+"."+shell)
		}
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("%s was not generated", name)
		}
	}
	return names
}

// installed returns where packages install a generated file; zsh differs between distributions.
func installed(name, zsh string) string {
	folder, file, _ := strings.Cut(name, "/")
	program, shell, _ := strings.Cut(file, ".")
	switch {
	case folder == "man":
		return "usr/share/man/man1/" + file
	case folder == "licenses":
		return "usr/share/doc/gw/" + name
	case shell == "bash":
		return "usr/share/bash-completion/completions/" + program
	case shell == "zsh":
		return zsh + "/_" + program
	default:
		return "usr/share/fish/vendor_completions.d/" + file
	}
}

// checkFiles wants a number of files, each with a checksum, and what each contains.
func checkFiles(t *testing.T, sums, pattern string, count int, contents func(*testing.T, io.Reader) map[string]int64, want []string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != count {
		t.Errorf("%s: %v, %v", pattern, paths, err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if !strings.Contains(sums, "  "+name+"\n") {
			t.Errorf("there is no checksum of %s", name)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files := contents(t, file)
		for _, part := range want {
			if files[part] == 0 {
				t.Errorf("%s lacks %s", name, part)
			}
		}
	}
}

// licensed returns the list of dependencies, which must have a known licence.
func licensed(t *testing.T) string {
	t.Helper()
	list := read(t, "build/release/licenses/list.txt")
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) != 0 && (len(fields) != 3 || fields[2] == "Unknown") {
			t.Errorf("licence of %q", line)
		}
	}
	return list
}

// checkLicenses wants every dependency of the programs in the list of licences.
func checkLicenses(t *testing.T, dist string) {
	t.Helper()
	list := "\n" + licensed(t)
	programs, err := filepath.Glob(filepath.Join(dist, "gw-*", "gw-*"))
	if err != nil || len(programs) != 8 {
		t.Fatalf("programs %v, %v", programs, err)
	}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }) {
			t.Errorf("%s does not know its commit", program)
		}
		for _, dependency := range info.Deps {
			// The list has the packages with a licence of their own.
			if !strings.Contains(list, "\n"+dependency.Path+" ") && !strings.Contains(list, "\n"+dependency.Path+"/") {
				t.Errorf("%s contains %s, which the list lacks", program, dependency.Path)
			}
		}
	}
}

// inArchive returns the sizes of the files in a .tar.gz.
func inArchive(t *testing.T, file io.Reader) map[string]int64 {
	t.Helper()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]int64)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "./")] = header.Size
	}
}

func inDeb(t *testing.T, file io.Reader) map[string]int64 {
	t.Helper()
	for deb := ar.NewReader(file); ; {
		header, err := deb.Next()
		if err != nil {
			t.Fatalf("there is no data.tar.gz: %v", err)
		}
		if strings.TrimSuffix(header.Name, "/") == "data.tar.gz" {
			return inArchive(t, deb)
		}
	}
}

func inRPM(t *testing.T, file io.Reader) map[string]int64 {
	t.Helper()
	header, err := rpmutils.ReadHeader(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]int64)
	for _, file := range list {
		files[strings.TrimPrefix(file.Name(), "/")] = file.Size()
	}
	return files
}
