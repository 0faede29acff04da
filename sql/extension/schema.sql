do $$
begin
  if to_regnamespace('{{ replace "'" "''" .schema }}') is not null then
    raise exception 'Schema % is there already, and the extension makes its own.', '{{ replace "'" "''" .schema }}'
      using errcode = 'duplicate_schema',
            hint = 'A queue that is in it stays in the care of gw-migrate, which also takes over one of Graphile Worker. '
                   'A schema that is empty can be dropped.';
  end if;
end
$$;

create schema {{.schema}};
