package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// DefaultSchema is the default of [Config.Schema].
const DefaultSchema = "graphile_worker"

const (
	defaultLockTimeout = 5 * time.Second

	// PostgreSQL truncates longer identifiers silently.
	maxSchemaBytes = 63

	// Graphile Worker builds names of prepared statements from the schema's name; above this length they are truncated.
	maxSchemaLengthForNode = 32
)

// Config configures a [Migrator].
type Config struct {
	// Schema is the name of the schema, not quoted. Any name that PostgreSQL can quote works. Default: graphile_worker.
	// Set it to have several queues in one database; every producer and worker needs the same name.
	Schema string

	// LockTimeout is how long one attempt of a migration waits for a lock that the application holds. While it waits,
	// later statements wait behind it. The migration is attempted up to ten times. Rounded up to milliseconds. Default:
	// 5 s. Lower it where a pause of that length is a problem; raise it where transactions are long and pauses are not.
	LockTimeout time.Duration

	// Adopt lets Up take over a schema that Graphile Worker has made, with its jobs, while its workers run. Default:
	// such a schema is refused. Set it where that is what the user asked for, not in a program that only makes sure of
	// its schema.
	Adopt bool

	// From18 lets Up take over revision 18 of Graphile Worker's schema, too. It marks revision 19 as applied: Node
	// workers older than 0.17 refuse to start from then on, and those that run stop with exit code 57. Default:
	// revision 18 is refused. Set it when none of them is left.
	From18 bool

	// FunctionPaths sets what to do when a schema is taken over whose tables call functions of the user (by triggers
	// and the like) without a search_path of their own; see [Unpinned]. Default: the schema is refused, with the names.
	FunctionPaths PathPolicy

	// OnStep is called with each step before Up or Repair makes it, in the goroutine of the caller. Default: none. Set
	// it to show progress.
	OnStep func(Step)
}

func (c Config) withDefaults() (Config, error) {
	if c.Schema == "" {
		c.Schema = DefaultSchema
	}
	if err := checkSchema(c.Schema); err != nil {
		return Config{}, err
	}
	if c.LockTimeout < 0 {
		return Config{}, fmt.Errorf("lock timeout %s: it must not be negative", c.LockTimeout)
	}
	if !slices.Contains([]PathPolicy{RefusePaths, KeepPaths, SetPaths}, c.FunctionPaths) {
		return Config{}, fmt.Errorf("function paths %q: they can be kept or set", c.FunctionPaths)
	}
	if c.LockTimeout == 0 {
		c.LockTimeout = defaultLockTimeout
	}
	if c.OnStep == nil {
		c.OnStep = func(Step) {}
	}
	return c, nil
}

func checkSchema(name string) error {
	switch {
	case len(name) > maxSchemaBytes:
		return fmt.Errorf("schema name %q: it has %d bytes, PostgreSQL allows %d", name, len(name), maxSchemaBytes)
	case strings.HasPrefix(name, "pg_"):
		return fmt.Errorf("schema name %q: PostgreSQL reserves names that start with pg_", name)
	case strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return fmt.Errorf("schema name %q: it is not text that PostgreSQL can store", name)
	}
	return nil
}

// Warnings returns problems of a valid schema name; usually none.
func Warnings(schema string) []string {
	if utf8.RuneCountInString(schema) > maxSchemaLengthForNode {
		return []string{fmt.Sprintf("schema name %q is longer than %d characters: Graphile Worker's Node worker, if one is to "+
			"work here too, needs --no-prepared-statements", schema, maxSchemaLengthForNode)}
	}
	return nil
}
