package harness

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContendersTakeTurns(t *testing.T) {
	all := []string{"a", "b", "c"}
	if got := strings.Join(Turns(0, all), "") + strings.Join(Turns(1, all), "") +
		strings.Join(Turns(2, all), ""); got != "abccbaabc" {
		t.Errorf("the order is %s", got)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	begun := false
	program := Program[*Bench]{
		Scenarios: []Scenario[*Bench]{{Name: "claim"}},
		Open: func(context.Context, *Bench) (*Bench, error) {
			begun = true
			return nil, errors.New("it begins")
		},
	}
	for _, args := range [][]string{{"-run", "("}, {"-run", "^nothing$"}, {"-rounds", "0"}, {"claim"}, {"-nonsense"}} {
		if code := program.Run(t.Context(), args, io.Discard, io.Discard); code != ExitUsage || begun {
			t.Errorf("%q ends with %d, want %d", args, code, ExitUsage)
		}
	}
}

func TestTheCommandToRepeatNamesNoFolderOfThisMachine(t *testing.T) {
	got := repeatable([]string{"-run", "a|b", "-pg-bin", "/opt/18/bin", "--pg-bin=/opt/15/bin", "-report", "../x.md"})
	if want := " -run 'a|b' -pg-bin DIR -pg-bin=DIR -report ../x.md"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func TestTheFileHasTheSummaryInPlaceOfTheBody(t *testing.T) {
	for closed, want := range map[bool]string{true: "head summary ", false: "head body "} {
		testDocument(t, closed, want)
	}
}

// testDocument writes a document with a summary, or without, and expects this text in its file.
func testDocument(t *testing.T, closed bool, want string) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	d := document{stdout: &screen, file: file, closed: closed}
	for _, p := range []struct {
		part part
		text string
	}{{inHead, "head "}, {inBody, "body "}, {inSummary, "summary "}} {
		if p.part == inSummary && !closed {
			continue
		}
		d.part = p.part
		if _, err := io.WriteString(&d, p.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.write(); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file.Name())
	if err != nil || string(written) != want {
		t.Errorf("the file has %q: %v", written, err)
	}
	if closed && screen.String() != "head body summary " {
		t.Errorf("the screen has %q", screen.String())
	}
}
