#!/usr/bin/env bash
# with-database.sh COMMAND [ARGUMENT]... runs a command with DATABASE_URL set to a new database, which is migrated by gw-migrate
# and dropped afterwards, on the server of GW_TEST_DATABASE_URL. GW_TEST_PROGRAMS may be a folder that contains gw-migrate.
set -euo pipefail

: "${GW_TEST_DATABASE_URL:?run this with: go run ./tests/go/testserver -- $0 COMMAND}"

name="gw_test_script_$$"
DATABASE_URL=$(sed -E "s#^(postgres(ql)?://[^/?]*)(/[^?]*)?#\1/$name#" <<<"$GW_TEST_DATABASE_URL")
export DATABASE_URL

admin() {
  DATABASE_URL=$GW_TEST_DATABASE_URL scripts/psql.sh --command "$1"
}

admin "create database $name template template0"
trap 'admin "drop database $name"' EXIT
if [ -n "${GW_TEST_PROGRAMS:-}" ]; then
  "$GW_TEST_PROGRAMS/gw-migrate" --connection "$DATABASE_URL"
else
  go run ./cmd/gw-migrate --connection "$DATABASE_URL"
fi
"$@"
