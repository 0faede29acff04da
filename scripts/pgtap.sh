#!/usr/bin/env bash
# Runs the pgTAP tests of tests/sql in the migrated database DATABASE_URL.
set -euo pipefail

# A server without the extension gets its functions from the script of another version's package.
if [ "$(scripts/psql.sh --no-align --tuples-only --command "select count(*) from pg_available_extensions where name = 'pgtap'")" = 1 ]; then
  scripts/psql.sh --command 'create extension pgtap'
else
  script=$(printf '%s\n' /usr/share/postgresql/*/extension/pgtap--*.sql | grep -E 'pgtap--[0-9.]+[.]sql$' | sort --version-sort | tail -n 1)
  PGOPTIONS='-c client_min_messages=warning' scripts/psql.sh --output /dev/null --file "$script"
fi
# Not --dbname: pg_prove takes no URL with a `=` in it.
pg_prove --psql-bin scripts/psql.sh --recurse --ext .sql tests/sql
