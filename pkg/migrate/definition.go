package migrate

import (
	"crypto/md5"
	"encoding/hex"
	"regexp"
	"slices"
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

// definitions returns all functions and triggers that the first migrations create, in order. A function that several
// migrations create is listed several times, and _gw_installed records which one a schema has.
func (m *Migrator) definitions(migrations []Migration) []definition {
	return slices.Concat(m.defined()[:len(migrations)]...)
}

// findDefinitions returns the functions and triggers that each migration creates. It takes tens of milliseconds. In sql/
// a comment follows each, and a trigger is written as PostgreSQL prints it, except for case, quotes, parentheses and
// white space.
func (m *Migrator) findDefinitions() [][]definition {
	schema := regexp.QuoteMeta(m.quoted() + ".")
	quote := regexp.QuoteMeta(dollarQuote(m.schema))
	const comment = ` is\s+'(?:[^']|'')*';`
	pattern := regexp.MustCompile(`(?sm)^create or replace function ` + schema + `\w+\(.*?^as ` + quote + `(?P<body>.*?)` + quote + `;` +
		`\s+comment on function (?P<signature>` + schema + `\w+\(.*?\))` + comment +
		`|(?P<create>^create (?:constraint )?trigger (?P<trigger>\w+)\s.*?\son (?P<table>` + schema + `\w+)\s.*?;)` +
		`\s+comment on trigger \w+ on ` + schema + `\w+` + comment)

	found := make([][]definition, len(m.migrations))
	for i, migration := range m.migrations {
		for _, match := range pattern.FindAllStringSubmatch(migration.SQL, -1) {
			group := func(name string) string { return match[pattern.SubexpIndex(name)] }
			if group("trigger") != "" {
				found[i] = append(found[i], m.triggerDefinition(group("trigger"), group("table"), group("create"), match[0]))
				continue
			}
			name, _, _ := strings.Cut(m.unqualified(group("signature")), "(")
			for _, spelled := range []func(string) string{func(text string) string { return text }, m.unquoted} {
				found[i] = append(found[i], definition{
					kind: Function, name: name, signature: group("signature"),
					digest: digest(spelled(group("body"))), body: spelled(group("body")), sql: spelled(match[0]),
				})
			}
		}
	}
	return found
}

// bodyOf returns the body of a function of ours as the last migration that creates it has it; nothing if none does.
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
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// plainTrigger removes from the definition of a trigger what _gw_objects() removes.
func plainTrigger(text string) string {
	return strings.NewReplacer(`"`, "", "(", "", ")", "", " ", "", "\n", "", ";", "").Replace(strings.ToLower(text))
}

func (m *Migrator) unqualified(text string) string {
	return strings.ReplaceAll(text, m.quoted()+".", "")
}
