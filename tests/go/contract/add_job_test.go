package contract

var addJobScenarios = []scenario{
	{
		name: "add_job fills in what is omitted",
		steps: []string{
			`select id, payload, priority, run_at = now(), attempts, max_attempts, last_error, created_at = now(), updated_at = now(),
			        key, locked_at, locked_by, revision, flags, is_available from add_job('a')`,
		},
		node: `
			1|{}|0|t|0|25|null|t|t|null|null|null|0|null|t
			notify 1`,
	},
	{
		name: "add_job takes all arguments by name",
		steps: []string{
			`select id, priority from add_job(identifier => 'a', payload => '{"n":1}', queue_name => 'q', run_at => '2100-01-01', max_attempts => 3,
			                                  job_key => 'k', priority => -5, flags => array['f', 'g'], job_key_mode => 'replace')`,
			`select task, queue, payload, run_at = '2100-01-01', max_attempts, key, priority, flags, available from rows`,
		},
		node: `
			1|-5
			notify 1
			a|q|{"n":1}|t|3|k|-5|{"f": true, "g": true}|t`,
	},
	{
		name: "add_job takes all arguments by position, as a crontab does",
		steps: []string{
			`select id from add_job('a', '{}', null, now(), 25::smallint, null, 0::smallint, null, 'replace')`,
		},
		node: `
			1
			notify 1`,
	},
	{
		name: "only a payload that is null in SQL becomes an empty object",
		steps: []string{
			`select payload from add_job('a', null)`, `select payload from add_job('a', 'null')`,
			`select payload from add_job('a', '[1]')`,
			`select payload from add_job('a', '{"b":1,  "a":2, "a":3}')`,
		},
		node: `
			{}
			notify 1
			null
			notify 1
			[1]
			notify 1
			{"b":1,  "a":2, "a":3}
			notify 1`,
	},
	{
		name: "flags become an object, no flags become null",
		steps: []string{
			`select flags from add_job('a', flags => array['b', 'a', 'b'])`,
			`select flags from add_job('a', flags => '{}')`,
			`select flags from add_job('a', flags => array[''])`,
		},
		node: `
			{"a": true, "b": true}
			notify 1
			null
			notify 1
			{"": true}
			notify 1`,
	},
	{
		name:  "names and keys may be as long as this, and a queue's name may be empty",
		steps: []string{`select length(key) from add_job(repeat('t', 128), queue_name => repeat('q', 128), job_key => repeat('k', 512))`, `select id from add_job('a', queue_name => '')`, `select queue = '' from rows where task = 'a'`},
		node: `
			512
			notify 1
			2
			notify 1
			t`,
	},
	{
		name:       "a task's name must not be null",
		steps:      []string{`select add_job(null)`},
		node:       `error 23502`,
		ours:       `error GWBNI`,
		difference: "Error codes",
	},
	{
		name:       "a task's name of 129 characters is too long",
		steps:      []string{`select add_job(repeat('t', 129))`},
		node:       `error 23514`,
		ours:       `error GWBID`,
		difference: "Error codes",
	},
	{
		name:       "a queue's name of 129 characters is too long",
		steps:      []string{`select add_job('a', queue_name => repeat('q', 129))`},
		node:       `error 23514`,
		ours:       `error GWBQN`,
		difference: "Error codes",
	},
	{
		name:       "a key must not be empty",
		steps:      []string{`select add_job('a', job_key => '')`},
		node:       `error 23514`,
		ours:       `error GWBJK`,
		difference: "Error codes",
	},
	{
		name:       "a key of 513 characters is too long",
		steps:      []string{`select add_job('a', job_key => repeat('k', 513))`},
		node:       `error 23514`,
		ours:       `error GWBJK`,
		difference: "Error codes",
	},
	{
		name:  "max_attempts must be at least 1",
		steps: []string{`select add_job('a', max_attempts => 0)`, `select add_job('a', max_attempts => -1)`},
		node: `
			error 23514
			error 23514`,
		ours: `
			error GWBMA
			error GWBMA`,
		difference: "Error codes",
	},
	{
		name: "max_attempts and priority must fit a smallint",
		steps: []string{`select add_job('a', max_attempts => 32768)`, `select add_job('a', priority => 32768)`,
			`select add_job('a', priority => -32769)`},
		node: `
			error 22003
			error 22003
			error 22003`,
		ours: `
			error GWBMR
			error GWBPR
			error GWBPR`,
		difference: "Error codes",
	},
	{
		name: "two arrays under one key keep what they stand for",
		steps: []string{
			`select id from add_job('a', '[1e3]', job_key => 'k')`,
			`select payload from add_job('a', ' [{"b": 1, "a": 2}]', job_key => 'k')`,
			`select revision from add_job('a', '["\u0000"]', job_key => 'k')`,
		},
		node: `
			1
			notify 1
			[1000, {"a": 2, "b": 1}]
			notify 1
			error 22P05`,
		ours: `
			1
			notify 1
			[1e3, {"b": 1, "a": 2}]
			notify 1
			2
			notify 1`,
		difference: "Arrays added under one key",
	},
	{
		name:       "a flag must not be null",
		steps:      []string{`select add_job('a', flags => array['b', null])`},
		node:       `error 22023`,
		ours:       `error GWBNF`,
		difference: "Error codes",
	},
	{
		name: "max_attempts and priority may be as far out as this",
		steps: []string{`select max_attempts, priority from add_job('a', max_attempts => 32767, priority => 32767)`,
			`select max_attempts, priority from add_job('a', max_attempts => 1, priority => -32768)`},
		node: `
			32767|32767
			notify 1
			1|-32768
			notify 1`,
	},
	{
		name: "the names of known tasks and queues take no further ids",
		steps: []string{`select id from add_job('a', queue_name => 'q')`,
			`select id from add_job('a', queue_name => 'q')`,
			`select task_id, job_queue_id from add_job('b', queue_name => 'r')`},
		node: `
			1
			notify 1
			2
			notify 1
			2|2
			notify 1`,
	},
	{
		name:  "additions in one transaction are announced at its end",
		steps: []string{`select count(add_job('a')) from generate_series(1, 3)`},
		node: `
			3
			notify 1
			notify 1
			notify 1`,
		ours: `
			3
			notify 1`,
		difference: "Several additions in one transaction",
	},
	{
		name: "an addition that is rolled back announces nothing",
		steps: []string{
			`begin; select (add_job('a')).id; rollback`, `select count(*) from jobs`,
		},
		node: `
			1
			0`,
	},
}

var keyScenarios = []scenario{
	{
		name: "a waiting job is replaced in everything, and starts anew",
		steps: []string{
			`select id from add_job('a', '{"n":1}', 'q', '2100-01-01', 3, 'k', 5, array['f'])`,
			`call grow_old(); update _private_jobs set attempts = 2, last_error = 'no'`,
			`select id from add_job('b', '{"n":2}', job_key => 'k')`,
			`select id, task, queue, payload, run_at > '2020-01-01' and run_at < '2100-01-01', max_attempts, priority, flags, revision, attempts, last_error, created_long_ago, untouched from rows`,
		},
		node: `
			1
			notify 1
			1
			notify 1
			1|b|null|{"n":2}|t|25|0|null|1|0|null|t|f`,
	},
	{
		name: "preserve_run_at keeps the time of a job that was not tried yet",
		steps: []string{
			`select id from add_job('a', run_at => '2100-01-01', job_key => 'k')`,
			`select run_at = '2100-01-01', revision, payload, priority from add_job('a', '[1]', run_at => '2101-01-01', job_key => 'k', priority => 2, job_key_mode => 'preserve_run_at')`,
			`update _private_jobs set attempts = 1`,
			`select run_at = '2101-01-01', revision, attempts from add_job('a', run_at => '2101-01-01', job_key => 'k', job_key_mode => 'preserve_run_at')`,
		},
		node: `
			1
			notify 1
			t|1|[1]|2
			notify 1
			t|2|0
			notify 1`,
	},
	{
		name: "two arrays under one key become one",
		steps: []string{
			`select payload from add_job('a', '[1, {"a": 2, "b": 1}]', job_key => 'k')`,
			`select payload from add_job('a', '[2.50]', job_key => 'k')`,
			`select payload from add_job('a', '[3]', job_key => 'k', job_key_mode => 'preserve_run_at')`,
			`select payload from add_job('a', '{}', job_key => 'k')`,
			`select payload from add_job('a', '[4]', job_key => 'k')`,
			`select payload from add_job('a', job_key => 'k')`,
		},
		node: `
			[1, {"a": 2, "b": 1}]
			notify 1
			[1, {"a": 2, "b": 1}, 2.50]
			notify 1
			[1, {"a": 2, "b": 1}, 2.50, 3]
			notify 1
			{}
			notify 1
			[4]
			notify 1
			{}
			notify 1`,
	},
	{
		name: "unsafe_dedupe changes nothing but the revision, whatever the job does",
		steps: []string{
			`select id, revision from add_job('a', '[1]', job_key => 'k', job_key_mode => 'unsafe_dedupe')`,
			`select id, revision, payload, priority from add_job('b', '[2]', job_key => 'k', priority => 3, job_key_mode => 'unsafe_dedupe')`,
			`call hold('{1}', 'worker')`,
			`select id, revision, locked_by from add_job('a', job_key => 'k', job_key_mode => 'unsafe_dedupe')`,
			`update _private_jobs set locked_by = null, locked_at = null, attempts = max_attempts`,
			`select id, revision, is_available from add_job('a', job_key => 'k', job_key_mode => 'unsafe_dedupe')`,
			`select count(*) from jobs`,
		},
		node: `
			1|0
			notify 1
			1|1|[1]|0
			1|2|worker
			1|3|f
			1`,
		ours: `
			1|0
			notify 1
			1|1|[1]|0
			notify 1
			1|2|worker
			1|3|f
			1`,
		difference: "Notifications of changed times and locks",
	},
	{
		name: "the mode counts only with a key",
		steps: []string{
			`select id from add_job('a', job_key_mode => 'nonsense')`,
			`select id from add_job('a', job_key_mode => 'unsafe_dedupe')`,
			`select id from add_job('a', job_key => 'k', job_key_mode => null)`,
			`select id, revision from add_job('a', job_key => 'k', job_key_mode => null)`,
			`select id from add_job('a', job_key => 'k', job_key_mode => 'nonsense')`,
		},
		node: `
			1
			notify 1
			2
			notify 1
			3
			notify 1
			3|1
			notify 1
			error GWBKM`,
	},
	{
		name: "a running job lets its key go to a new job",
		steps: []string{
			`select id from add_job('a', '[1]', job_key => 'k', max_attempts => 3)`,
			`call grow_old(); call hold('{1}', 'worker')`,
			`select id, payload, revision from add_job('a', '[2]', job_key => 'k')`,
			`select id, key, attempts, max_attempts, locked_by, available, revision, untouched from rows order by id`,
		},
		node: `
			1
			notify 1
			2|[2]|0
			notify 1
			1|null|3|3|worker|f|0|f
			2|k|0|25|null|t|0|f`,
		ours: `
			1
			notify 1
			2|[2]|0
			notify 1
			1|null|4|3|worker|f|0|f
			2|k|0|25|null|t|0|f`,
		difference: "Attempts of a running job that must not run again",
	},
	{
		name: "a job that failed for good lets its key go to a new job, and stays",
		steps: []string{
			`select id from add_job('a', job_key => 'k', max_attempts => 3)`,
			`call grow_old(); update _private_jobs set attempts = 3, last_error = 'no'`,
			`select id, revision from add_job('a', job_key => 'k')`,
			`select id, key, attempts, max_attempts, last_error, available, untouched from rows order by id`,
		},
		node: `
			1
			notify 1
			2|0
			notify 1
			1|null|3|3|no|f|f
			2|k|0|25|null|t|f`,
	},
	{
		name: "a replaced job takes no further id",
		steps: []string{
			`select id from add_job('a', job_key => 'k')`, `select id from add_job('a', job_key => 'k')`,
			`select id from add_job('a', job_key => 'k', job_key_mode => 'unsafe_dedupe')`,
			`select id from add_job('a')`,
		},
		node: `
			1
			notify 1
			1
			notify 1
			1
			4
			notify 1`,
		ours: `
			1
			notify 1
			1
			notify 1
			1
			notify 1
			2
			notify 1`,
		difference: "Ids drawn from the sequence",
	},
}
