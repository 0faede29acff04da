package migrate

import (
	"regexp"
	"slices"
	"strings"
)

// A definition is a function or a trigger as our migrations make it.
type definition struct {
	object   Object // as it is called in messages
	function string // its signature, qualified, for to_regprocedure; empty for a trigger
	body     string // the function's body, or the statement that makes the trigger
	table    string // the trigger's table, qualified, for to_regclass
	trigger  string // the trigger's name
	sql      string // makes it, in place of one that is there
}

// definitions returns the functions and triggers that the migrations leave behind, in the order in which they can be
// made. Each is written as in sql/: a comment on it follows, and a trigger is spelled as PostgreSQL prints it, but for
// case, quotes, parentheses and space.
func (m *Migrator) definitions(migrations []Migration) []definition {
	schema := regexp.QuoteMeta(m.quoted() + ".")
	quote := regexp.QuoteMeta(dollarQuote(m.schema))
	const comment = ` is\s+'(?:[^']|'')*';`
	patterns := regexp.MustCompile(`(?sm)^create or replace function ` + schema + `\w+\(.*?^as ` + quote + `(?P<body>.*?)` + quote + `;` +
		`\s+comment on function (?P<function>` + schema + `\w+\(.*?\))` + comment +
		`|(?P<create>^create (?:constraint )?trigger (?P<trigger>\w+)\s.*?\son (?P<table>` + schema + `\w+)\s.*?;)` +
		`\s+comment on trigger \w+ on ` + schema + `\w+` + comment)

	var found []definition
	for _, migration := range migrations {
		for _, match := range patterns.FindAllStringSubmatch(migration.SQL, -1) {
			group := func(name string) string { return match[patterns.SubexpIndex(name)] }
			d := definition{
				function: group("function"), table: group("table"), trigger: group("trigger"),
				body: group("body") + group("create"), sql: match[0],
			}
			if d.function != "" {
				d.object = Object{Kind: Function, Name: m.unqualified(d.function)}
			} else {
				d.object = Object{Kind: Trigger, Name: d.trigger + " on " + m.unqualified(d.table)}
				d.sql = "drop trigger if exists " + d.trigger + " on " + d.table + ";\n" + d.sql
			}
			// A later migration's word is the last.
			found = slices.DeleteFunc(found, func(earlier definition) bool { return earlier.object == d.object })
			found = append(found, d)
		}
	}
	return found
}

// isTrigger compares a trigger as PostgreSQL prints it with the definition.
func (d definition) isTrigger(printed string) bool {
	plain := func(text string) string {
		return strings.NewReplacer(`"`, "", "(", "", ")", "", " ", "", "\n", "", ";", "").Replace(strings.ToLower(text))
	}
	return plain(d.body) == plain(printed)
}

func (m *Migrator) unqualified(text string) string {
	return strings.ReplaceAll(text, m.quoted()+".", "")
}
