package contract

const threeQueues = `select queue_name, locked_by from _private_job_queues order by 1`

var adminScenarios = []scenario{
	{
		name: "complete_jobs deletes jobs unless they run, and leaves their queues",
		steps: []string{`call three_jobs()`, `select id, key from complete_jobs('{1,2,3,99}') order by id`,
			`select id from rows order by id`, threeQueues},
		node: `
			1|k1
			3|k3
			2
			q2|living
			q3|dead`,
	},
	{
		name: "permanently_fail_jobs fails jobs unless they run",
		steps: []string{
			`call three_jobs()`, `select id from permanently_fail_jobs('{1,2,99}', 'no') order by id`,
			`select id, attempts, max_attempts, last_error, key, locked_by, available, untouched from rows where id < 3 order by id`,
			`select last_error from permanently_fail_jobs('{1}')`,
		},
		node: `
			1
			1|3|3|no|k1|null|f|f
			2|1|3|null|k2|living|f|t
			Manually marked as failed`,
	},
	{
		name: "permanently_fail_jobs leaves the lock of a job that it fails",
		steps: []string{
			`call three_jobs()`, `select id from permanently_fail_jobs('{3}', 'no')`,
			`select id, attempts, max_attempts, last_error, locked_by, available from rows where id = 3`,
		},
		node: `
			3
			3|3|3|no|dead|f`,
		ours: `
			3
			3|4|3|no|dead|f`,
		difference: "Attempts of a running job that must not run again",
	},
	{
		name: "reschedule_jobs changes what is given unless the job runs",
		steps: []string{
			`call three_jobs()`,
			`select id from reschedule_jobs('{1,2,3,99}', run_at => '2100-01-01', priority => 7) order by id`,
			`select id, run_at = '2100-01-01', priority, attempts, max_attempts, locked_by, untouched from rows order by id`,
		},
		node: `
			1
			3
			1|t|7|0|3|null|f
			2|f|0|1|3|living|t
			3|t|7|1|3|dead|f`,
		ours: `
			1
			3
			notify 0
			1|t|7|0|3|null|f
			2|f|0|1|3|living|t
			3|t|7|1|3|dead|f`,
		difference: "Notifications of changed times and locks",
	},
	{
		name: "reschedule_jobs gives a job that failed for good its attempts again",
		steps: []string{
			`select id from add_job('a', max_attempts => 1); update _private_jobs set attempts = 1, last_error = 'no'`,
			`select id, attempts, max_attempts, last_error, is_available from reschedule_jobs('{1}', attempts => 0, max_attempts => 5)`,
		},
		node: `
			1
			notify 1
			1|0|5|no|t`,
		ours: `
			1
			notify 1
			1|0|5|no|t
			notify 1`,
		difference: "Notifications of changed times and locks",
	},
	{
		name: "reschedule_jobs refuses numbers out of bounds",
		steps: []string{
			`select id from add_job('a')`, `select reschedule_jobs('{1}', max_attempts => 0)`,
			`select reschedule_jobs('{1}', priority => 32768)`,
			`select reschedule_jobs('{1}', max_attempts => 32768)`, `select reschedule_jobs('{1}', attempts => 32768)`,
		},
		node: `
			1
			notify 1
			error 23514
			error 22003
			error 22003
			error 22003`,
		ours: `
			1
			notify 1
			error GWBMA
			error GWBPR
			error GWBMR
			error GWBAR`,
		difference: "Error codes",
	},
	{
		name:  "reschedule_jobs takes no negative attempts",
		steps: []string{`select id from add_job('a')`, `select attempts from reschedule_jobs('{1}', attempts => -1)`},
		node: `
			1
			notify 1
			-1`,
		ours: `
			1
			notify 1
			error GWBAR`,
		difference: "Negative attempts",
	},
	{
		name: "remove_job deletes a waiting job, and one whose lock is older than four hours",
		steps: []string{
			`call three_jobs()`, `select id, key, locked_by from remove_job('k1')`,
			`select id, locked_by from remove_job('k3')`, `select id from rows`, threeQueues,
		},
		node: `
			1|k1|null
			notify -1
			3|dead
			notify -1
			2
			q2|living
			q3|dead`,
	},
	{
		name: "remove_job deletes a job that failed for good",
		steps: []string{
			`select id from add_job('a', job_key => 'k'); update _private_jobs set attempts = max_attempts`,
			`select id from remove_job('k')`, `select count(*) from jobs`,
		},
		node: `
			1
			notify 1
			1
			notify -1
			0`,
	},
	{
		name: "remove_job takes the key of a running job, which will not run again",
		steps: []string{
			`call three_jobs()`, `select id, key, attempts, max_attempts, locked_by, is_available from remove_job('k2')`, `select id, untouched from rows where id = 2`,
		},
		node: `
			2|null|3|3|living|f
			2|f`,
		ours: `
			2|null|4|3|living|f
			2|f`,
		difference: "Attempts of a running job that must not run again",
	},
	{
		name:  "remove_job of an unknown key, or of none, returns null",
		steps: []string{`select remove_job('k') is null`, `select remove_job(null) is null`},
		node: `
			t
			t`,
	},
	{
		name: "force_unlock_workers frees jobs and queues of these workers and leaves all else",
		steps: []string{
			`call three_jobs()`, `select count(*) from force_unlock_workers('{living,nobody}')`,
			`select id, attempts, locked_by, available, untouched from rows order by id`, threeQueues,
		},
		node: `
			1
			1|0|null|t|t
			2|1|null|t|t
			3|1|dead|f|t
			q2|null
			q3|dead`,
		ours: `
			1
			notify 1
			1|0|null|t|t
			2|1|null|t|t
			3|1|dead|f|t
			q2|null
			q3|dead`,
		difference: "Notifications of changed times and locks",
	},
	{
		name: "a queue that a worker frees is announced if a job waits in it",
		steps: []string{
			`select id from add_job('a', queue_name => 'q')`, `select id from add_job('a', queue_name => 'q')`,
			`call hold('{1}', 'worker')`,
			`delete from _private_jobs where id = 1`,
			`update _private_job_queues set locked_by = null, locked_at = null`,
		},
		node: `
			1
			notify 1
			2
			notify 1`,
		ours: `
			1
			notify 1
			2
			notify 1
			notify 1`,
		difference: "Notifications of changed times and locks",
	},
}
