#!/usr/bin/env bash
# deps.sh [languages] [browser] installs what the tests and the lint need; with languages also what the tests of examples in
# other languages need, with browser what the tests of the console in a browser need. It installs packages with apt-get if that
# needs no password (as root, or in CI with sudo); otherwise it prints one message with all packages to install, and fails.
# Packages of npm are installed in tests/node, which needs no special rights.
set -euo pipefail

more=" $* "

missing=()

need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null || missing+=("$2")
}

# The languages of examples/enqueue, examples/work and examples/receive, with their drivers; the driver for Node.js comes from npm.
need_languages() {
  /usr/bin/python3 -c 'import psycopg' 2>/dev/null || missing+=(python3-psycopg)
  ruby -e 'require "pg"' 2>/dev/null || missing+=(ruby-pg)
  need php php-cli
  php -r 'exit((int) !extension_loaded("pdo_pgsql"));' 2>/dev/null || missing+=(php-pgsql)
  need javac default-jdk-headless
  [ -e /usr/share/java/postgresql.jar ] || missing+=(libpostgresql-jdbc-java)
}

# Prints the folder of the server that internal/pgtemp uses: the one of pg_config, the one in PATH, or the newest of the packages.
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

# The extensions in a server's packages; the Docker image of tests/go/testserver contains its own.
need_extensions() { # need_extensions SERVER_BIN
  local share major
  share=$("$1/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$(basename "$(dirname "$1")")")
  major=$("$1/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
  [ -e "$share/extension/pgtap.control" ] || missing+=("postgresql-$major-pgtap")
  [ -e "$share/extension/plpgsql_check.control" ] || missing+=("postgresql-$major-plpgsql-check")
}

# Prints the major version of the server that apt-get would install; nothing if it has no list of packages yet.
apt_major() {
  { apt-cache depends postgresql 2>/dev/null || true; } | sed -En 's/.*Depends: postgresql-([0-9]+)$/\1/p'
}

# A server with its extensions. Without a list of packages the names of extensions are patterns, which apt-get accepts, too.
need_packaged_server() {
  local major
  major=$(apt_major)
  if [ -n "$major" ]; then
    missing+=(postgresql "postgresql-$major-pgtap" "postgresql-$major-plpgsql-check")
  else
    missing+=(postgresql '^postgresql-[0-9]+-pgtap$' '^postgresql-[0-9]+-plpgsql-check$')
  fi
}

need_server() {
  local bin
  if [ -n "${GW_TEST_DATABASE_URL:-}" ]; then
    return # its owner installs its extensions; the tests print which are missing
  fi
  bin=$(server_bin)
  if [ -n "$bin" ]; then
    need_extensions "$bin"
  elif ! docker version >/dev/null 2>&1; then
    need_packaged_server
  fi
}

need_compiler() { # for go test -race
  need gcc gcc
  [ -e /usr/include/stdio.h ] || [ "$(uname)" != Linux ] || missing+=(libc6-dev)
}

look() {
  missing=()
  [ -z "${RACE:-}" ] || need_compiler
  need psql postgresql-client
  need pg_prove libtap-parser-sourcehandler-pgtap-perl
  need python3 python3 # a server of docs/tour.md
  PATH=$PATH:/usr/sbin need pgbouncer pgbouncer
  need npm npm
  [ "$(uname)" != Linux ] || need systemd-analyze systemd
  [[ $more != *" languages "* ]] || need_languages
  [[ $more != *" browser "* ]] || need chromium-headless-shell chromium-headless-shell
  need_server
}

apt() {
  local run=(env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get)
  if [ "$(id -u)" != 0 ]; then
    run=(sudo --non-interactive "${run[@]}")
  fi
  "${run[@]}" "$@" </dev/null
}

may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || { [ -n "${CI:-}" ] && sudo --non-interactive true 2>/dev/null; }
}

# Prints how much apt-get would install, which it knows after an update.
announce() {
  echo "make deps: installing ${missing[*]}"
  apt install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null | awk '
    / newly installed/ { count = $3 }
    /^Need to get/     { size = $4 " " $5 }
    /^After this/      { disk = $4 " " $5 }
    END                { if (count) print "make deps: " count " packages with apt-get, " size " to download, " disk " on disk; this takes minutes" }' || true
}

# Runs apt-get without output, unless it fails. In CI it does not sync the disk after each package.
quietly() {
  local log options=(-qq -o Dpkg::Use-Pty=0)
  if [ -n "${CI:-}" ]; then
    options+=(-o Dpkg::Options::=--force-unsafe-io)
  fi
  log=$(mktemp)
  if ! apt "$@" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    rm "$log"
    return 1
  fi
  rm "$log"
}

look
if [ ${#missing[@]} -gt 0 ] && may_install; then
  quietly update
  look # now the server's version and thus the names of its extensions are known
  announce
  quietly install --yes --no-install-recommends "${missing[@]}"
  look
fi
if [ ${#missing[@]} -gt 0 ]; then
  echo "make deps: packages are missing. As root, on Debian or Ubuntu, run this, then try again:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends$(printf ' %q' "${missing[@]}")" >&2
  exit 1
fi

# The Graphile Workers that run beside ours, their Node.js, its driver, and the packages that examples import. npm writes its
# list of packages last, so it is newer than package.json if and only if all of them are installed.
if ! [ tests/node/node_modules/.package-lock.json -nt tests/node/package.json ]; then
  echo "make deps: installing the packages of tests/node/package.json from npm, 200 MB in tests/node"
  if ! (cd tests/node && npm install --no-package-lock --no-audit --no-fund --loglevel=error) </dev/null >&2; then
    echo "make deps: npm could not install the packages of tests/node/package.json" >&2
    exit 1
  fi
fi
