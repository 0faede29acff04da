package contract

// specs is an array of job_spec as Node's addJobs builds it.
func specs(json string) string {
	return `array(select json_populate_recordset(null::job_spec, '` + json + `'))`
}

var addJobsScenarios = []scenario{
	{
		name: "add_jobs fills in what is omitted and announces all jobs at once",
		steps: []string{
			`select id, payload, priority, run_at = now(), max_attempts, key, flags from add_jobs(` +
				specs(`[{"identifier":"a"},{"identifier":"a"}]`) + `)`,
		},
		node: `
			1|{}|0|t|25|null|null
			2|{}|0|t|25|null|null
			notify 2`,
	},
	{
		name: "add_jobs takes all attributes",
		steps: []string{
			`select id from add_jobs(` + specs(`[{"identifier":"a","payload":[1],"queue_name":"q","run_at":"2100-01-01","max_attempts":2,"job_key":"k","priority":-1,"flags":["f"]}]`) + `)`,
			`select task, queue, payload, run_at = '2100-01-01', max_attempts, key, priority, flags from rows`,
		},
		node: `
			1
			notify 1
			a|q|[1]|t|2|k|-1|{"f": true}`,
	},
	{
		name: "add_jobs announces as many jobs as there are specs, even if none is new or due",
		steps: []string{
			`select id from add_job('a', job_key => 'k', run_at => '2100-01-01')`,
			`select id, revision from add_jobs(` + specs(`[{"identifier":"a","job_key":"k","run_at":"2100-01-01"}]`) +
				`)`,
		},
		node: `
			1
			notify 1
			1|1
			notify 1`,
	},
	{
		name: "add_jobs keeps the times of waiting jobs if told so",
		steps: []string{
			`select id from add_job('a', job_key => 'k1', run_at => '2100-01-01')`,
			`select id from add_job('a', job_key => 'k2', run_at => '2100-01-01')`,
			`update _private_jobs set attempts = 1 where key = 'k2'`,
			`select count(*) from add_jobs(` +
				specs(`[{"identifier":"a","job_key":"k1","run_at":"2101-01-01"},{"identifier":"a","job_key":"k2","run_at":"2101-01-01"}]`) + `, true)`,
			`select key, run_at = '2100-01-01', attempts from rows order by key`,
			`select count(*) from add_jobs(` + specs(`[{"identifier":"a","job_key":"k1","run_at":"2101-01-01"}]`) + `)`,
			`select key, run_at = '2100-01-01' from rows order by key`,
		},
		node: `
			1
			notify 1
			2
			notify 1
			2
			notify 2
			k1|t|0
			k2|f|0
			1
			notify 1
			k1|f
			k2|f`,
	},
	{
		name: "add_jobs merges arrays and lets the keys of running jobs go",
		steps: []string{
			`select id from add_job('a', '[1]', job_key => 'k1')`,
			`select id from add_job('a', '[1]', job_key => 'k2')`,
			`call hold('{2}', 'worker')`,
			`select count(*) from add_jobs(` +
				specs(`[{"identifier":"a","payload":[2],"job_key":"k1"},{"identifier":"a","payload":[2],"job_key":"k2"}]`) + `)`,
			`select key, payload, revision, locked from rows order by key, id`,
		},
		node: `
			1
			notify 1
			2
			notify 1
			2
			notify 2
			k1|[1, 2]|1|f
			k2|[2]|0|f
			null|[1]|0|t`,
	},
	{
		name: "the rows come back in the order of the specs",
		steps: []string{
			`select count(*) from add_jobs(` + specs(`[{"identifier":"a"},{"identifier":"b"},{"identifier":"c"}]`) +
				`)`,
			`select string_agg(task_id::text, ' ') = '2 1 3 2 1' from add_jobs(` +
				specs(`[{"identifier":"b"},{"identifier":"a"},{"identifier":"c"},{"identifier":"b"},{"identifier":"a"}]`) + `)`,
		},
		node: `
			3
			notify 3
			f
			notify 5`,
		ours: `
			3
			notify 3
			t
			notify 5`,
		difference: "The order of the rows of add_jobs",
	},
	{
		name: "two specs with one key are added one after the other",
		steps: []string{
			`select id, payload, revision from add_jobs(` +
				specs(`[{"identifier":"a","payload":[1],"job_key":"k"},{"identifier":"a","payload":[2],"job_key":"k"}]`) + `)`,
		},
		node: `error 21000`,
		ours: `
			1|[1, 2]|1
			1|[1, 2]|1
			notify 2`,
		difference: "Two specs with one key in one add_jobs call",
	},
	{
		name:  "an empty array adds nothing",
		steps: []string{`select count(*) from add_jobs('{}')`},
		node: `
			0
			notify ""`,
		ours:       `0`,
		difference: "add_jobs with an empty array or null",
	},
	{
		name: "one bad spec refuses the whole call",
		steps: []string{`select count(*) from add_jobs(` +
			specs(`[{"identifier":"a"},{"identifier":"a","max_attempts":0}]`) + `)`, `select count(*) from jobs`},
		node: `
			error 23514
			0`,
		ours: `
			error GWBMA
			0`,
		difference: "Error codes",
	},
}
