#!/usr/bin/env bash
# Makes sure that what the tests and the lint need is there: installs it with apt-get where that needs no question (as
# root, or in CI by sudo without a password), else says in one message what to install, and fails. What comes from npm
# goes into tests/node and needs no right.
set -euo pipefail

missing=()

need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null || missing+=("$2")
}

# The languages of examples/enqueue and examples/work, with their drivers; the one for Node.js comes from npm.
need_languages() {
  /usr/bin/python3 -c 'import psycopg' 2>/dev/null || missing+=(python3-psycopg)
  ruby -e 'require "pg"' 2>/dev/null || missing+=(ruby-pg)
  need php php-cli
  php -r 'exit((int) !extension_loaded("pdo_pgsql"));' 2>/dev/null || missing+=(php-pgsql)
  need javac default-jdk-headless
  [ -e /usr/share/java/postgresql.jar ] || missing+=(libpostgresql-jdbc-java)
}

# The folder of the server that internal/pgtemp takes: pg_config's, the one in PATH, the newest of the packaged ones.
server_bin() {
  local dir
  while read -r dir; do
    if [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
      echo "$dir"
      return
    fi
  done < <({
    pg_config --bindir
    dirname "$(command -v initdb)"
    printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort --reverse
  } 2>/dev/null)
}

# The extensions in a server's packages; the Docker image of tests/go/testserver brings its own.
need_extensions() { # need_extensions SERVER_BIN
  local share major
  share=$("$1/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$(basename "$(dirname "$1")")")
  major=$("$1/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
  [ -e "$share/extension/pgtap.control" ] || missing+=("postgresql-$major-pgtap")
  [ -e "$share/extension/plpgsql_check.control" ] || missing+=("postgresql-$major-plpgsql-check")
}

need_server() {
  local bin
  if [ -n "${GW_TEST_DATABASE_URL:-}" ]; then
    return # its extensions are its owner's business; the tests name what it lacks
  fi
  bin=$(server_bin)
  if [ -n "$bin" ]; then
    need_extensions "$bin"
  elif ! docker version >/dev/null 2>&1; then
    missing+=(postgresql)
  fi
}

look() {
  missing=()
  need gcc gcc # go test -race
  [ -e /usr/include/stdio.h ] || [ "$(uname)" != Linux ] || missing+=(libc6-dev)
  need psql postgresql-client
  need pg_prove libtap-parser-sourcehandler-pgtap-perl
  need xz xz-utils # a test serves an archive
  PATH=$PATH:/usr/sbin need pgbouncer pgbouncer
  need npm npm
  [ "$(uname)" != Linux ] || need systemd-analyze systemd
  need_languages
  need_server
}

apt() {
  if [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get "$@"
  else
    sudo --non-interactive DEBIAN_FRONTEND=noninteractive apt-get "$@"
  fi
}

may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || { [ -n "${CI:-}" ] && sudo --non-interactive true 2>/dev/null; }
}

look
if [ ${#missing[@]} -gt 0 ] && may_install; then
  apt update --quiet
  apt install --quiet --yes --no-install-recommends "${missing[@]}" </dev/null
  look # a server that has come brings its version, which names its extensions
  if [ ${#missing[@]} -gt 0 ]; then
    apt install --quiet --yes --no-install-recommends "${missing[@]}" </dev/null
    look
  fi
fi
if [ ${#missing[@]} -gt 0 ]; then
  echo "make deps: these are missing, by their names in Debian and Ubuntu; install them and try again:" >&2
  echo "  ${missing[*]}" >&2
  exit 1
fi

# The Graphile Workers that run beside ours, their Node.js, its driver and what examples import. npm writes its list last,
# so it is newer than package.json if and only if all of that is there.
if ! [ tests/node/node_modules/.package-lock.json -nt tests/node/package.json ]; then
  if ! (cd tests/node && npm install --no-package-lock --no-audit --no-fund --loglevel=error) </dev/null >&2; then
    echo "make deps: npm could not install what tests/node/package.json names" >&2
    exit 1
  fi
fi
