#!/usr/bin/env bash
# psql-copy.sh [OPTION]... runs psql on a copy of DATABASE_URL that no other psql-copy.sh uses at the same time; see pgtap.sh.
# Vacuums the jobs first: a claim that has to skip what earlier files have left in the index would set a claim cursor.
set -euo pipefail

while true; do
  for copy in "$GW_TEST_COPIES"/*; do
    exec {lock}>"$copy"
    if flock --nonblock "$lock"; then # until psql ends
      DATABASE_URL=$(sed -E "s#^([^/]*//[^/]*)/[^?]*#\1/$(basename "$copy")#" <<<"$DATABASE_URL")
      export DATABASE_URL
      exec scripts/psql.sh --command 'vacuum graphile_worker._private_jobs' "$@"
    fi
    exec {lock}>&-
  done
  sleep 0.1
done
