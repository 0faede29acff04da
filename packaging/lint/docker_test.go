package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// root is the top of the repository.
const root = "../.."

func TestTheDockerfileIsWhatDockerTakesWithoutAWarning(t *testing.T) {
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	result, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range result.Warnings {
		t.Errorf("Dockerfile: %s", warning.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, where []parser.Range) {
		line := 0
		if len(where) > 0 {
			line = where[0].Start.Line
		}
		t.Errorf("Dockerfile:%d: %s (%s)", line, message, rule)
	}})
	stages, _, err := instructions.Parse(result.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	if last := stages[len(stages)-1].Name; last != "static" {
		t.Errorf("the image that is built by default is %s", last)
	}
	for _, stage := range stages[1:] {
		checkImage(t, stage)
	}
}

// checkImage wants what the documents promise: the folder for tasks, and a user without rights.
func checkImage(t *testing.T, stage instructions.Stage) {
	t.Helper()
	var user, folder, program string
	for _, command := range stage.Commands {
		switch command := command.(type) {
		case *instructions.UserCommand:
			user = command.User
		case *instructions.WorkdirCommand:
			folder = command.Path
		case *instructions.EntrypointCommand:
			program = command.CmdLine[0]
		}
	}
	if user != "65532:65532" || folder != "/worker" || program != "/usr/local/bin/gw-run" {
		t.Errorf("%s: user %s, folder %s, program %s", stage.Name, user, folder, program)
	}
}

func TestTheComposeFileIsWhatComposeTakes(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "packaging/compose/compose.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range project.Services {
		if service.Build != nil {
			if _, err := os.Stat(filepath.Join(service.Build.Context, "Dockerfile")); err != nil {
				t.Errorf("%s: %v", service.Name, err)
			}
		}
		for _, volume := range service.Volumes {
			if volume.Type == "bind" {
				if _, err := os.Stat(volume.Source); err != nil {
					t.Errorf("%s: %v", service.Name, err)
				}
			}
		}
	}
}
