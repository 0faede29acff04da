package config

import "time"

// Key describes a key of the config file.
type Key struct {
	Name    string
	Takes   Type
	Default string // in words, for the reference
	Meaning string
	Flag    string // the flag of gw-run that takes precedence over the file; empty if there is none
}

// Type is the type of a key's value, in words.
type Type string

// The types of values.
const (
	Text    Type = "text"
	Secrets Type = "secret, or list of secrets"
	Number  Type = "whole number"
	Size    Type = "whole number, or true"
	Time    Type = "time"
	Grace   Type = "time, or 0"
	YesNo   Type = "true or false"
	Path    Type = "path"
	Texts   Type = "names with texts"
	Names   Type = "name, or list of names"
	Command Type = "program, or list of program and arguments"
	Times   Type = "time, or list of times"
	Flags   Type = "list of flags, or query"
	Tasks   Type = "names with settings"
)

// The limits of numbers and times. Memory is allocated for each of the jobs, and sums of times must not overflow.
const (
	Most        = 100_000
	LongestTime = 100 * 365 * 24 * time.Hour
)

// Settings returns the top-level keys that correspond to flags.
func Settings() []Key {
	return []Key{
		{"connection", Text, "`DATABASE_URL`, or the `PG*` variables",
			"The database: a URL, `key=value` pairs, or a bare name.", "connection"},
		{"schema", Text, "`GRAPHILE_WORKER_SCHEMA`, or `graphile_worker`", "The schema of the queue.", "schema"},
		{"jobs", Number, "1", "How many jobs run at once.", "jobs"},
		{"max_pool_size", Number, "10", "Maximum number of database connections, not counting the listening one.",
			"max-pool-size"},
		{"poll_interval", Time, "2s", "Maximum interval between two searches for jobs.", "poll-interval"},
		{"no_prepared_statements", YesNo, "false",
			"Whether the connection uses a pooler that does not support prepared statements.",
			"no-prepared-statements"},
		{"listen_url", Text, "`connection`", "The server's own address, if `connection` goes through a pooler.",
			"listen-url"},
		{"no_listen", YesNo, "false", "Whether to poll only, without a listening connection.", "no-listen"},
		{"tasks_folder", Path, "`tasks` in the working directory",
			"The folder of the executables and modules that serve tasks by their names.", "tasks"},
		{"crontab", Path, "`crontab` beside the folder of tasks, if it is there", "The file of recurring jobs.",
			"crontab"},
		{"grace", Grace, "30s", "How long running jobs may continue after a signal to stop.", "grace"},
		{"no_migrate", YesNo, "false", "Whether to leave the schema as it is.", "no-migrate"},
		{"log_format", Text, "text", "`text` or `json`.", "log-format"},
		{"log_level", Text, "info", "`debug`, `info`, `warn` or `error`.", "log-level"},
		{"http", Text, "none", "The address at which to serve `/livez`, `/readyz` and `/metrics`, such as `:9464`.",
			"http"},
		{"ui", Text, "none", "The loopback address at which to serve the [console](console.md), such as `127.0.0.1:9465`.", "ui"},
		{"ui_name", Text, "database@host", "The name of the queue in the header of the console.", "ui-name"},
		{"ui_color", Text, "none", "The color of the header of the console.", "ui-color"},
		{"ui_links", Texts, "none", "The consoles of other queues, to which the header of the console links: their names with their URLs.", "ui-link"},
		{"quiet", YesNo, "false", "Whether to omit the log lines of completed jobs.", "quiet"},
	}
}

// Top returns the other top-level keys.
func Top() []Key {
	return []Key{
		{"forbidden_flags", Flags, "none", "This worker does not claim jobs with one of these flags. " +
			"`{query: select ...}` gets them from the database every second: the texts in the first column.", ""},
		{"limits", Tasks, "none", "Limits that are set in the database when the worker starts, by their names.", ""},
		{"tasks", Tasks, "none", "How tasks are served, by their names.", ""},
	}
}

// Common returns the keys of every task.
func Common() []Key {
	return []Key{
		{"timeout", Time, "4h; 1m with `http` and `sql`",
			"How long one attempt may take. With `sql` it is the `statement_timeout`.", ""},
		{"concurrency", Number, "`jobs`", "How many jobs of the task this worker runs at once. The others stay in the queue for other workers.", ""},
		{"backoff", Times, "e^attempt seconds, up to six hours",
			"The wait after a failed attempt: the first time after the first one and so on, the last one after all further ones.", ""},
		{"forbidden_flags", Flags, "none", "This worker does not claim jobs of the task with one of these flags, or with one of the file's flags. " +
			"`{query: select ...}` gets them from the database in the same way.", ""},
		{"keep", Time, "as the database has it",
			"Records the attempts and ends of the task's jobs in the [history](history.md), and keeps them for this time, such as `720h`.", ""},
		{"keep_payloads", YesNo, "false", "With `keep`: whether the payloads of jobs that end are kept, too.", ""},
		{"keep_results", YesNo, "false", "With `keep`: whether the results of jobs are kept, too.", ""},
	}
}

// Kind is the way in which a task is served.
type Kind string

// The kinds. A task of the kind [Folder] is served by an executable or a module in the folder of tasks.
const (
	Folder     Kind = ""
	Exec       Kind = "exec"
	Persistent Kind = "persistent"
	Node       Kind = "node"
	HTTP       Kind = "http"
	SQL        Kind = "sql"
)

// Kinds returns the kinds of a task that have a key of their own in the config file.
func Kinds() []Key {
	return []Key{
		{string(Exec), Command, "", "Starts a program for each job.", ""},
		{string(Persistent), Command, "", "Keeps a program running that takes one job after the other.", ""},
		{string(Node), Path, "", "Runs this module, in JavaScript or TypeScript, in Node.js as Graphile Worker does.",
			""},
		{string(HTTP), Text, "", "Posts each job to this URL. In its path and query `{task}` stands for the task, `{job_id}` for the job's id.", ""},
		{string(SQL), Text, "", "Calls this function or procedure of the database, `schema.name`.", ""},
	}
}

// OfKind returns the keys that only tasks of this kind have, without the key of the kind itself.
func OfKind(kind Kind) []Key {
	program := []Key{
		{"directory", Path, "the folder of the config file", "The program's working directory.", ""},
		{"env", Texts, "none", "Environment variables of the program, beside those of the worker.", ""},
	}
	killDelay := Key{"kill_delay", Time, "5s", "The time between SIGTERM, when a job has to end, and SIGKILL.", ""}
	switch kind {
	case Folder:
		return []Key{{"kill_delay", Time, "5s",
			"The time between SIGTERM, when a job has to end, and SIGKILL; of a module, how long a job " +
				"may continue after its abortSignal has fired.", ""}}
	case Exec:
		return append(program, killDelay)
	case Persistent:
		return append(program, killDelay,
			Key{"children", Number, "`concurrency`",
				"How many of the programs run at most. They are started when they are needed.", ""})
	case Node:
		return append(program,
			Key{"kill_delay", Time, "5s", "How long a job may continue after its abortSignal has fired.", ""},
			Key{"children", Number, "1", "How many processes of Node.js run at most. Each runs any number of jobs at once.", ""})
	case HTTP:
		return []Key{
			{"headers", Texts, "none", "Headers of each request.", ""},
			{"secret", Secrets, "none", "The key that [signs requests](handlers.md#signature), `whsec_...`; a list of them while it changes.", ""},
			{"permanent_4xx", YesNo, "false", "Whether a job fails permanently if the answer is 4xx, other than 408, 425 and 429.", ""},
			{"ca_file", Path, "those of the system", "The certificates of the authorities to trust, as PEM.", ""},
		}
	case SQL:
		return []Key{
			{"owner", Text, "the role of the worker, the owner of the database, or a superuser",
				"The role that owns the function.", ""},
			{"batch", Size, "a call for each job",
				"The function takes an array, `json[]` or `jsonb[]`, and is called for up to so many " +
					"jobs in one transaction, from 1 to 1000; `true` is 100.", ""},
		}
	}
	return nil
}

func names(keys ...[]Key) []string {
	var found []string
	for _, some := range keys {
		for _, key := range some {
			found = append(found, key.Name)
		}
	}
	return found
}
