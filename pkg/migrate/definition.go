package migrate

import (
	"crypto/md5"
	"fmt"
	"regexp"
	"strings"
)

// A definition is a function or a trigger as one of our migrations creates it.
type definition struct {
	kind      Kind
	name      string // of a function, or of a trigger with its table; without the schema and the types of arguments
	signature string // of a function, qualified, for to_regprocedure; empty for a trigger
	table     string // of a trigger, qualified, for to_regclass; empty for a function
	digest    string // as in _gw_installed
	body      string // of a function
	sql       string // creates it, or replaces an existing one
}

// definitions returns all functions and triggers that migrations create, in order. A function that several migrations
// create is listed several times, and _gw_installed records which one a schema has. In sql/ a comment follows each, and
// a trigger is written as PostgreSQL prints it, except for case, quotes, parentheses and white space.
func (m *Migrator) definitions(migrations []Migration) (found []definition) {
	const comment = ` is\s+'(?:[^']|'')*';`
	schema := regexp.QuoteMeta(m.quoted() + ".")
	function := regexp.MustCompile(`(?s)^\s+comment on (function|procedure) (` + schema + `\w+\(.*?\))` + comment)
	trigger := regexp.MustCompile(`(?s)^(create (?:constraint )?trigger (\w+)\s.*?\son (` + schema + `\w+)\s.*?;)` +
		`\s+comment on trigger \w+ on ` + schema + `\w+` + comment)
	quote := dollarQuote(m.schema)

	for _, migration := range migrations {
		for _, text := range splitBefore("\n"+migration.SQL, "\ncreate ") {
			if match := trigger.FindStringSubmatch(text); match != nil {
				found = append(found, m.triggerDefinition(match[2], match[3], match[1], match[0]))
			}
			head, rest, _ := strings.Cut(text, "\nas "+quote)
			body, rest, _ := strings.Cut(rest, quote+";")
			if match := function.FindStringSubmatch(rest); match != nil &&
				strings.HasPrefix(head, "create or replace "+match[1]+" "+m.quoted()+".") {
				found = append(found, m.functionDefinitions(Kind(match[1]), match[2], body,
					text[:len(text)-len(rest)]+match[0])...)
			}
		}
	}
	return found
}

// splitBefore returns the parts of a text that begin with a mark, which is a line break and a word. The parts do not
// contain that line break.
func splitBefore(text, mark string) []string {
	parts := strings.Split(text, mark)[1:]
	for i := range parts {
		parts[i] = mark[1:] + parts[i]
	}
	return parts
}

// functionDefinitions returns a function or procedure twice: with the schema's name as quoted returns it, and without
// quotes.
func (m *Migrator) functionDefinitions(kind Kind, signature, body, text string) (found []definition) {
	name, _, _ := strings.Cut(m.unqualified(signature), "(")
	for _, spelled := range []func(string) string{func(text string) string { return text }, m.unquoted} {
		found = append(found, definition{
			kind: kind, name: name, signature: signature,
			digest: digest(spelled(body)), body: spelled(body), sql: spelled(text),
		})
	}
	return found
}

// bodyOf returns the body of a function in the last migration that creates it; empty if no migration does.
func (m *Migrator) bodyOf(name string) (body string) {
	for _, d := range m.definitions(m.migrations) {
		if d.kind == Function && d.name == name && d.sql != m.unquoted(d.sql) {
			body = d.body
		}
	}
	return body
}

func (m *Migrator) triggerDefinition(name, table, create, text string) definition {
	return definition{
		kind: Trigger, name: name + " on " + m.unqualified(table), table: table, digest: digest(plainTrigger(create)),
		sql: "drop trigger if exists " + name + " on " + table + ";\n" + text,
	}
}

// unquoted returns SQL as rendered by tern's own command, which gets the schema's name without quotes.
func (m *Migrator) unquoted(text string) string {
	return strings.ReplaceAll(text, m.quoted()+".", m.schema+".")
}

// digest returns the same as md5() of the server.
func digest(text string) string {
	return fmt.Sprintf("%x", md5.Sum([]byte(text)))
}

// plainTrigger removes from the definition of a trigger what _gw_objects() removes.
func plainTrigger(text string) string {
	return strings.NewReplacer(`"`, "", "(", "", ")", "", " ", "", "\n", "", ";", "").Replace(strings.ToLower(text))
}

func (m *Migrator) unqualified(text string) string {
	return strings.ReplaceAll(text, m.quoted()+".", "")
}
