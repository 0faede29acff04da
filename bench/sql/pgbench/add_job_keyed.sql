-- Of 20 000 keys: at first most calls insert, later most replace.
\set key random(1, 20000)
select * from {{.schema}}.add_job('bench', '{"number": 1}', job_key := 'key-' || :key);
