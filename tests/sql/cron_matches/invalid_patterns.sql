-- Errors in a pattern are reported with Graphile Worker's messages.
begin;
select plan(26);
set local search_path = graphile_worker, public;

create function pg_temp.refuses(pattern text, message text)
  returns text
  language sql
as $$
  select throws_ok(format('select cron_matches(%L, now())', pattern), 'GWRPT', message, coalesce(pattern, 'null'))
$$;

select pg_temp.refuses(p.pattern, p.message || ' in minutes range in cron_matches call: expected values in the range 0-59.')
  from (values ('60 * * * *', 'Too large value ''60'''), ('0060 * * * *', 'Too large value ''60'''),
               ('50-70 * * * *', 'Too large value ''60'''), ('70-80 * * * *', 'Too large value ''70''')) as p (pattern, message);
select pg_temp.refuses('* 24 * * *', 'Too large value ''24'' in hours range in cron_matches call: expected values in the range 0-23.');
select pg_temp.refuses('* * 0 * *', 'Too small value ''0'' in dates range in cron_matches call: expected values in the range 1-31.');
select pg_temp.refuses('* * 0-3 * *', 'Too small value ''0'' in dates range in cron_matches call: expected values in the range 1-31.');
select pg_temp.refuses('* * 32 * *', 'Too large value ''32'' in dates range in cron_matches call: expected values in the range 1-31.');
select pg_temp.refuses('* * * 13 *', 'Too large value ''13'' in months range in cron_matches call: expected values in the range 1-12.');
select pg_temp.refuses('* * * * 8', 'Too large value ''8'' in days of week range in cron_matches call: expected values in the range 0-6.');
select pg_temp.refuses('* * * * 6-9', 'Too large value ''8'' in days of week range in cron_matches call: expected values in the range 0-6.');
select pg_temp.refuses(p.part || ' * * * *',
                       'Invalid range ''' || p.part || ''' in minutes range in cron_matches call: destination is not larger than source')
  from (values ('5-1'), ('5-5'), ('70-70')) as p (part);
select pg_temp.refuses('* * * * 7-7', 'Invalid range ''7-7'' in days of week range in cron_matches call: destination is not larger than source');
select pg_temp.refuses('*/0 * * * *', 'Invalid wildcard expression ''*/0'' in minutes range in cron_matches call: divisor ''0'' expected to be greater than zero');
select pg_temp.refuses(p.part || ' * * * *',
                       'Unsupported syntax ''' || p.wrong || ''' in minutes range in cron_matches call: this doesn''t appear to be a number, range or wildcard')
  from (values ('1-5/2', '1-5/2'), ('1,', ''), ('*/', '*/'), ('*-5', '*-5'), ('1,2,-3', '-3')) as p (part, wrong);
select pg_temp.refuses(p.pattern, 'Invalid cron pattern ''' || p.pattern || ''' in cron_matches call')
  from (values (''), ('* * * *'), ('* * * * * *'), (' * * * * *'), ('@daily')) as p (pattern);

select * from finish();
rollback;
