package browser

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/page"
)

var takePictures = flag.Bool("browser.pictures", false, "take the pictures of the documents anew, of the demo; two minutes")

// picture is a picture of the demo in the documents.
type picture struct {
	file, path    string
	width, height int64 // without a height the picture has the whole page
	colors        string
	shown         string // an expression that becomes true when the page shows what the picture is about
	follows       bool   // the first link to a job
}

var pictures = []picture{
	{file: "console-lanes.png", path: "limits/lanes?limit=carriers", width: 1440, height: 480, colors: "light",
		shown: "document.querySelectorAll('.state.full').length > 2"},
	{file: "console-overview.png", path: "", width: 1440, height: 900, colors: "light",
		shown: "document.querySelector('#incidents')?.innerText.includes('charge_card') && document.querySelectorAll('#incidents .card').length > 1"},
	{file: "console-jobs.png", path: "jobs?state=failed&task=charge_card", width: 1440, height: 800, colors: "light",
		shown: "document.querySelectorAll('tbody tr').length > 9"},
	{file: "console-job-dark.png", path: "jobs?state=failed&task=charge_card", width: 390, colors: "dark",
		shown: "document.querySelector('.timeline')?.innerText.includes('attempt') && document.querySelector('#data pre')", follows: true},
}

// Each picture of the console in the documents is one that this test takes of the demo, so that it can be taken anew.
func TestPicturesOfTheDocumentsAreThoseOfTheDemo(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	if *takePictures {
		b := openAt(t, demo(t))
		for _, p := range pictures {
			b.take(p, filepath.Join(docs, "img", p.file))
		}
	}
	var taken, shown, kept []string
	for _, p := range pictures {
		taken = append(taken, p.file)
	}
	files, err := filepath.Glob(filepath.Join(docs, "img", "console-*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		kept = append(kept, filepath.Base(file))
	}
	texts, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(texts, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, regexp.MustCompile(`console-[a-z-]+\.png`).FindAllString(string(text), -1)...)
	}
	for _, of := range []*[]string{&taken, &shown, &kept} {
		slices.Sort(*of)
		*of = slices.Compact(*of)
	}
	if !slices.Equal(taken, kept) || !slices.Equal(taken, shown) {
		t.Errorf("pictures that the test takes: %v, that are kept: %v, that the documents show: %v", taken, kept, shown)
	}
}

// demo starts gw-run demo, and returns the address of its console.
func demo(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gw-run")
	build := exec.Command("go", "build", "-o", program, "./cmd/gw-run")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	run := exec.Command(program, "demo")
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // for a server of its own
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "DATABASE_URL=")
	})
	run.Stderr = t.Output()
	output, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		_ = run.Wait() // ended by the signal
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "in a browser: "); found {
			go func() { _, _ = io.Copy(io.Discard, output) }() // so that it can go on printing
			return url
		}
	}
	t.Fatal("the demo has no console")
	return ""
}

// take takes a picture.
func (b *tab) take(p picture, file string) {
	b.t.Helper()
	b.look(p.width, p.colors)
	b.visit(p.path)
	if p.follows {
		b.await("document.querySelector('td.id a')")
		eval[any](b, "document.querySelector('td.id a').click()")
	}
	b.await(p.shown)
	clip := page.Viewport{Width: eval[float64](b, "document.body.clientWidth"), Height: float64(p.height), Scale: 1}
	if p.height == 0 {
		clip.Height = eval[float64](b, "document.documentElement.scrollHeight")
	}
	taken := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &clip, CaptureBeyondViewport: new(true)})
	if err := os.WriteFile(file, taken.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
