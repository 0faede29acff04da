do $$
begin
  if to_regnamespace('{{ replace "'" "''" .schema }}') is not null then
    raise exception 'Schema % already exists, and the extension creates its own.', '{{ replace "'" "''" .schema }}'
      using errcode = 'duplicate_schema',
            hint = 'If it contains a queue, keep using gw-migrate, which also adopts one of Graphile Worker. '
                   'An empty schema can be dropped.';
  end if;
end
$$;

create schema {{.schema}};
