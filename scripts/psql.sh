#!/usr/bin/env bash
# psql.sh [OPTION]... runs psql on the database DATABASE_URL and stops at the first error.
set -euo pipefail

exec psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$DATABASE_URL" "$@"
