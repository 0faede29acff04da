package lint

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/gwsql/gw/internal/config"
)

// file is a folder for config files: it has a program that these may name.
type file struct {
	t      *testing.T
	dir    string
	schema *jsonschema.Schema
}

func newFile(t *testing.T) file {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, "docs/gw.schema.json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource(config.SchemaURL, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(config.SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	f := file{t, t.TempDir(), schema}
	f.add("./program")
	return f
}

func (f file) add(program string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, program), nil, 0o755); err != nil {
		f.t.Fatal(err)
	}
}

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

// check returns what the schema and what gw-run refuse in a config file.
func (f file) check(text string) (bySchema, byProgram error) {
	f.t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(converted)))
	if err != nil {
		f.t.Fatal(err)
	}
	_, byProgram = config.Parse(filepath.Join(f.dir, "gw.yaml"), text, func(string) string { return secret })
	return f.schema.Validate(value), byProgram
}

func TestTheSchemaTakesEveryConfigFileOfTheManual(t *testing.T) {
	f := newFile(t)
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{read(t, "examples/persistent/gw.yaml"), ""}
	for _, path := range append(paths, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
			files = append(files, block[1])
		}
	}
	if len(files) < 10 {
		t.Fatalf("there are only %d config files", len(files))
	}
	for _, text := range files {
		for _, program := range regexp.MustCompile(`\./[\w.]+`).FindAllString(text, -1) {
			f.add(program)
		}
		if bySchema, byProgram := f.check(text); bySchema != nil || byProgram != nil {
			t.Errorf("%s\nthe schema: %v, gw-run: %v", text, bySchema, byProgram)
		}
	}
	if first := "# yaml-language-server: $schema=" + config.SchemaURL + "\n"; !strings.HasPrefix(files[0], first) {
		t.Errorf("the example does not begin with %s", first)
	}
}

func TestTheSchemaRefusesWhatGwRunRefuses(t *testing.T) {
	f := newFile(t)
	for _, text := range []string{
		"- jobs\n", "threads: 1\n", "tasks: [a]\n", "tasks: {a: 5}\n", "tasks: {'': {timeout: 1s}}\n",
		"tasks: {a: {tiemout: 1s}}\n", "forbidden_flags: {querry: select 1}\n",
		"tasks: {a: {exec: ./program, sql: f}}\n", "tasks: {a: {exec: ./program, headers: {}}}\n",
		"tasks: {a: {http: http://h, kill_delay: 1s}}\n", "tasks: {a: {children: 2}}\n", "tasks: {a: {env: {}}}\n",
		"limits: {a: {queues: [q]}}\n", "limits: {a: {by: queue, max_running: 1}}\n", "limits: {a: {tasks: x}}\n", "limits: {a: {}}\n", "limits: {a: }\n",
		"limits: {a: {fair: true}}\n", "limits: {a: {rate: 1}}\n", "limits: {a: {max_running: 1, per: 1s}}\n",
		"limits: {a: {max_running: 1, burst: 2}}\n", "limits: {a: {rate: 1, per: 1s, strict: 1m}}\n",
	} {
		if bySchema, byProgram := f.check(text); bySchema == nil || byProgram == nil {
			t.Errorf("%s\nthe schema: %v, gw-run: %v", text, bySchema, byProgram)
		}
	}
}

// values are of each type, right and wrong ones.
var values = []string{
	"1", "0", "-1", "1.5", "100000", "100001", "2147483648", "'7'", "1s", "0s", "1.5h30m", "+5m", "-1s", "soon", "1s later", "true", "false", "'true'", "yes please",
	"''", "' '", "text", "~", "[]", "[1s]", "[a, b]", "[./program, '']", "[[a]]", "{}", "{a: b}", "{a: ~}", "{query: select 1}", "{query: ''}", "{query: [a]}",
	"${SECRET}", "'${SECRET}'", "[\"${SECRET}\"]", secret, "[" + secret + ", whsec_x]", "./program", ".", "https://h/{task}", "flag:a", "'payload:'", "./missing",
}

// Only the program knows these: whether a file exists, whether a secret or a URL is well-formed, which lists go where a text
// goes, and what a variable contains.
var onlyTheProgramKnows = regexp.MustCompile(`there is no (file|folder)|no program|query is empty|is not executable|must be whsec_|takes a URL|SECRET|` +
	`, must be (at (least|most)|positive)|not a statement|is empty; name a program|keep must be more than 0`)

func TestTheSchemaAndGwRunAgreeOnEveryKeyAndValue(t *testing.T) {
	f := newFile(t)
	var texts []string
	// add adds files with each key and value below others, which lack the key.
	add := func(keys []config.Key, indent, above string, others ...string) {
		for _, key := range keys {
			text := above
			for _, other := range others {
				if !strings.HasPrefix(other, key.Name+":") {
					text += indent + other + "\n"
				}
			}
			for _, value := range values {
				texts = append(texts, text+indent+key.Name+": "+value+"\n")
			}
		}
	}
	add(append(config.Settings(), config.Top()...), "", "")
	add(config.OfLimit(), "    ", "limits:\n  a:\n", "max_running: 1", "rate: 1", "per: 1s", "by: flag:b")
	add(append(config.Kinds(), config.Common()...), "    ", "tasks:\n  a:\n")
	add(config.OfKind(config.Folder), "    ", "tasks:\n  a:\n")
	for _, kind := range config.Kinds() {
		value := map[config.Kind]string{config.HTTP: "http://h", config.SQL: "f"}[config.Kind(kind.Name)]
		add(config.OfKind(config.Kind(kind.Name)), "    ", "tasks:\n  a:\n", kind.Name+": "+cmp.Or(value, "./program"))
	}
	for _, text := range texts {
		bySchema, byProgram := f.check(text)
		problems, _ := errors.AsType[config.Problems](byProgram)
		certain := slices.ContainsFunc(problems, func(p config.Problem) bool { return !onlyTheProgramKnows.MatchString(p.Message) })
		if bySchema != nil && byProgram == nil || bySchema == nil && certain {
			t.Errorf("%s\nthe schema: %v, gw-run: %v", text, bySchema, byProgram)
		}
	}
}
