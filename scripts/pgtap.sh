#!/usr/bin/env bash
# Runs the pgTAP tests of tests/sql in copies of the migrated database DATABASE_URL, on the server of GW_TEST_DATABASE_URL:
# several at once, but never two in the same copy, because they take locks and expect certain ids. With arguments, it runs only
# these files and folders.
set -euo pipefail

copies=4

# Debian's psql is a script that looks for the newest version each time, which takes longer than many of the tests.
for bin in /usr/lib/postgresql/*/bin; do
  if [ -x "$bin/psql" ]; then
    PATH=$bin:$PATH
  fi
done

# A server without the extension gets its functions from the script of another version's package.
if [ "$(scripts/psql.sh --no-align --tuples-only --command "select count(*) from pg_available_extensions where name = 'pgtap'")" = 1 ]; then
  scripts/psql.sh --command 'create extension pgtap'
else
  script=$(printf '%s\n' /usr/share/postgresql/*/extension/pgtap--*.sql | grep -E 'pgtap--[0-9.]+[.]sql$' | sort --version-sort | tail -n 1)
  PGOPTIONS='-c client_min_messages=warning' scripts/psql.sh --output /dev/null --file "$script"
fi

# A publication of all tables forbids updates and deletes of tables without a replica identity.
PGOPTIONS='-c client_min_messages=error' scripts/psql.sh --command 'create publication gw_test_all for all tables'

admin() {
  DATABASE_URL=$GW_TEST_DATABASE_URL scripts/psql.sh --command "$1"
}

name=$(sed -E 's#^[^/]*//[^/]*/([^?]*).*#\1#' <<<"$DATABASE_URL")
GW_TEST_COPIES=$(mktemp -d) # one file for each copy, which psql-copy.sh locks
export GW_TEST_COPIES
drop() {
  local copy
  for copy in "$GW_TEST_COPIES"/*; do
    admin "drop database if exists $(basename "$copy")"
  done
  rm -r "$GW_TEST_COPIES"
}
trap drop EXIT
for n in $(seq "$copies"); do
  touch "$GW_TEST_COPIES/${name}_$n"
  admin "create database ${name}_$n template $name"
done

# Without --dbname, because pg_prove accepts no URL with a `=`.
pg_prove --jobs "$copies" --failures --comments --psql-bin scripts/psql-copy.sh --recurse --ext .sql "${@:-tests/sql}"
