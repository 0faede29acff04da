-- The specs lie ready, as a parameter would.
\set number random(1, 20)
select count(*) from {{.schema}}.add_jobs((select s.specs from bench_specs as s where s.number = :number));
