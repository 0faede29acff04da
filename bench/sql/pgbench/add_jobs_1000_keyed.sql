-- The same with keys, 20 000 in all.
\set number random(1, 20)
select count(*) from {{.schema}}.add_jobs((select s.keyed from bench_specs as s where s.number = :number));
