select * from {{.schema}}.add_job('bench', '{"number": 1}');
