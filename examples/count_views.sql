create table page_views (
  page  text   primary key,
  views bigint not null
);

create function count_views(payloads json[])
  returns void
  language sql
as $$
  insert into page_views (page, views)
  select p ->> 'page', count(*)
    from unnest(payloads) as p
   group by 1
   order by 1
      on conflict (page) do update set views = page_views.views + excluded.views;
$$;
