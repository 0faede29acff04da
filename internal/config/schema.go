package config

import (
	"encoding/json"
	"regexp"
	"slices"
)

// SchemaURL is the address of the JSON Schema of config files, for their first line.
const SchemaURL = "https://raw.githubusercontent.com/gwsql/gw/main/docs/gw.schema.json"

// part is a JSON Schema, or a part of one.
type part map[string]any

// referencePattern matches a text that refers to an environment variable, whose value no schema knows.
const referencePattern = `\$\{`

// Schema returns the JSON Schema of config files, in draft 7, which editors support. What it refuses [Parse] refuses,
// too; Parse also checks values that need the file's surroundings, and sizes of times.
func Schema() []byte {
	top := properties(append(Settings(), Top()...), Most)
	top["limits"].(part)["additionalProperties"] = limitSchema()
	top["tasks"].(part)["additionalProperties"] = taskSchema()
	schema := mapping(top)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["$id"] = SchemaURL
	schema["title"] = "gw.yaml, the config file of gw-run"
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // it contains only texts, numbers, lists and maps
	}
	return append(text, '\n')
}

// mapping returns the schema of a mapping with these keys and no others. It may be empty.
func mapping(keys map[string]any) part {
	return part{"type": []string{"object", "null"}, "properties": keys, "additionalProperties": false}
}

// properties returns the schemas of keys. most is the largest whole number.
func properties(keys []Key, most int) map[string]any {
	all := make(map[string]any)
	for _, key := range keys {
		schema := key.Takes.schema(most)
		schema["description"] = key.description()
		all[key.Name] = schema
	}
	return all
}

// link matches a link of Markdown, whose target only a document has.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

func (k Key) description() string {
	text := link.ReplaceAllString(k.Meaning, "$1")
	if k.Default != "" {
		text += " Default: " + k.Default + "."
	}
	return text
}

func (t Type) schema(most int) part {
	scalar := part{"type": []string{"string", "number", "boolean"}}
	text := part{"type": scalar["type"], "pattern": `\S`}
	span := matching(`^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)
	switch t {
	case Number:
		return part{"anyOf": []any{part{"type": "integer", "minimum": 1, "maximum": most}, matching(`^\+?[0-9]+$`)}}
	case Size:
		return part{"anyOf": []any{part{"type": "integer", "minimum": 1, "maximum": maxBatch}, part{"const": true},
			matching(`^(true|\+?[0-9]+)$`)}}
	case Time:
		return span
	case Grace:
		return part{"anyOf": []any{span, part{"const": 0}, matching("^0$")}}
	case YesNo:
		return part{"anyOf": []any{part{"type": "boolean"}, matching(`^(true|false)$`)}}
	case Texts:
		return part{"type": []string{"object", "null"}, "additionalProperties": scalar}
	case Tasks:
		return part{"type": []string{"object", "null"}, "propertyNames": part{"pattern": `\S`}}
	case Secrets:
		return oneOrMore(matching(`^whsec_`))
	case Names:
		return oneOrMore(text)
	case Command: // arguments may be empty
		return part{"anyOf": []any{text, part{"type": "array", "minItems": 1, "items": scalar}}}
	case Times:
		return oneOrMore(span)
	case Flags:
		query := mapping(map[string]any{"query": text})
		query["type"] = "object"
		return part{"anyOf": append(oneOrMore(text)["anyOf"].([]any), query)}
	}
	return text
}

// matching returns the schema of a text that matches a pattern or refers to an environment variable.
func matching(pattern string) part {
	return part{"type": "string", "pattern": pattern + "|" + referencePattern}
}

// oneOrMore returns the schema of a value or a list of such values.
func oneOrMore(one part) part {
	return part{"anyOf": []any{one, part{"type": "array", "minItems": 1, "items": one}}}
}

func limitSchema() part {
	limit := mapping(properties(OfLimit(), maxLimit))
	by := limit["properties"].(map[string]any)["by"].(part)
	by["pattern"] = "^(flag|payload):.|" + referencePattern
	by["type"] = "string"
	limit["dependencies"] = part{
		"fair": []string{"by"}, "rate": []string{"per"}, "per": []string{"rate"}, "burst": []string{"rate"},
		"strict": withAny("max_running", "total_running"),
	}
	limit["type"] = "object"
	limit["anyOf"] = withAny("max_running", "total_running", "rate", "fair")["anyOf"]
	return limit
}

// taskSchema returns the schema of a task: at most one key of a kind, and the keys of that kind.
func taskSchema() part {
	kinds := names(Kinds())
	all := properties(append(Kinds(), Common()...), Most)
	needs := part{}
	for _, kind := range kinds {
		others := slices.DeleteFunc(slices.Clone(kinds), func(other string) bool { return other == kind })
		needs[kind] = part{"not": withAny(others...)}
	}
	of := make(map[string][]string) // the kinds of a key
	for _, kind := range append(slices.Clone(kinds), string(Folder)) {
		for name, schema := range properties(OfKind(Kind(kind)), Most) {
			if of[name] == nil {
				all[name] = schema
			}
			of[name] = append(of[name], kind)
		}
	}
	for name, with := range of {
		if !slices.Contains(with, string(Folder)) {
			needs[name] = withAny(with...)
			continue
		}
		without := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(with, kind) })
		needs[name] = part{"not": withAny(without...)}
	}
	task := mapping(all)
	task["dependencies"] = needs
	return task
}

// withAny returns the schema of a mapping that has at least one of these keys.
func withAny(keys ...string) part {
	var required []any
	for _, key := range keys {
		required = append(required, part{"required": []string{key}})
	}
	return part{"anyOf": required}
}
