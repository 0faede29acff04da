#!/usr/bin/env bash
# machines.sh [demo] tries the two commands of the README, the demo and `make test`, on fresh machines: minimal Debians made
# by debootstrap, with nothing but Go, git and make. With the argument demo it does not run `make test` to its end.
#
#   bare, as a user        the demo says in one paragraph what can be done when nothing can be downloaded, else downloads
#                          PostgreSQL once; make test says in one list what to install
#   prepared, as a user    root has installed that list: the demo takes the packaged server, and make test passes
#   bare, as root          the demo does as for a user
#   prepared, as root      make deps has installed what is missing: the demo and make test as above
#
# What is tested is the commit that is checked out. It needs root, Linux on x86-64, and a mirror of the host's own release of
# Debian, which it takes from the host's apt; the download comes from a repository on the loopback, with binaries from npm.
# Everything is made in a folder of /var/tmp that is removed in the end, with mounts that no other process sees. The Go
# caches are in it, too, or in the folder that GW_MACHINES_CACHE names, which is kept. It takes a quarter of an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

only=${1:-}
if [ "${GW_MACHINES_MIRRORED:-}" = "" ]; then
  bin=$(scripts/postgres-bin.sh 17)
  GW_MACHINES_MIRRORED=1 exec go run ./tests/go/mirror "$bin" "$0" "$@"
fi

fail() {
  echo "machines.sh: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail "only root can make machines"
command -v debootstrap >/dev/null ||
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends debootstrap >/dev/null

work=$(mktemp -d /var/tmp/gw-machines-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"
cache=${GW_MACHINES_CACHE:-$work/cache}
mkdir -p "$cache"
refusing=http://127.0.0.1:1 # a mirror that refuses connections

# The base of all machines.
make_base() {
  local suite mirror
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v suite="$suite" '$1 == suite { print $2; exit }')
  [ -n "$mirror" ] || fail "apt knows no mirror of $suite; apt-get update helps"
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$work/base" "$mirror" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "debootstrap failed"
  }
  # How the host reaches its mirrors is how the machine does.
  rm -rf "$work/base/etc/apt" "$work/base/etc/ssl/certs"
  cp -a /etc/apt "$work/base/etc/apt"
  cp -a /etc/ssl/certs "$work/base/etc/ssl/certs"
  cp -aL /etc/resolv.conf "$work/base/etc/resolv.conf"
  cp -a "$(go env GOROOT)" "$work/base/usr/local/go"
  for file in /root/.npmrc /usr/etc/npmrc; do
    if [ -e "$file" ]; then
      install -D -m 644 "$file" "$work/base/$file"
    fi
  done
  git clone --quiet --no-hardlinks . "$work/base/gw"
  chroot "$work/base" useradd --create-home gw
}

# on MACHINE USER COMMAND runs a command line in /gw of a machine, with /proc and the Go caches. What it leaves running ends
# with it.
on() {
  local root=$work/$1 user=$2 command=$3 home=/home/gw
  [ "$user" = gw ] || home=/root
  chroot "$root" chown -R "$user" /gw
  mkdir -p "$root/cache"
  chown -R "$(chroot "$root" id -u "$user")" "$cache"
  # shellcheck disable=SC2016 # expands inside
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --bind "$2" "$1/cache"
    exec chroot --userspec="$3" "$1" env -i HOME="$4" PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      GOPROXY="$5" GOFLAGS=-modcacherw GOMODCACHE=/cache/modules GOCACHE=/cache/build \
      GW_POSTGRES_MIRROR="$6" bash -c "cd /gw; $7"' \
    - "$root" "$cache" "$user" "$home" "$(go env GOPROXY)" "${MIRROR:-$GW_POSTGRES_MIRROR}" "$command" </dev/null
}

step() { echo "== $(date +%T) $*"; }

wants() { # wants WORDS, in what the last command said
  grep -qF -- "$1" "$work/said" || {
    cat "$work/said" >&2
    fail "this does not say: $1"
  }
}

# says MACHINE USER COMMAND keeps what a command says, and shows it when the command fails.
says() {
  on "$@" >"$work/said" 2>&1 || {
    cat "$work/said" >&2
    fail "as $2: $3"
  }
}

demo='go run ./cmd/gw-run demo --once'

wants_demo() { # wants_demo MACHINE USER ORIGIN: the demo on a server from there
  says "$1" "$2" "$demo"
  wants "$3"
  [ "$(grep -c ' ms$' "$work/said")" = 9 ] || fail "the demo has not run nine jobs: $(cat "$work/said")"
}

# Nothing is installed.
bare() { # bare MACHINE USER
  step "$1: the demo as $2, and no download is possible"
  on "$1" "$2" "go build -o /tmp/gw-run ./cmd/gw-run"
  if MIRROR=$refusing on "$1" "$2" "/tmp/gw-run demo --once" >"$work/said" 2>&1; then
    fail "the demo found a server"
  fi
  wants "refuses the connection"
  wants "Do one of the following: install PostgreSQL's server (apt-get install postgresql); start Docker; give the demo a database"
  [ "$(grep -c '^gw-run: ' "$work/said")" = 1 ] || fail "more than a paragraph: $(cat "$work/said")"
  step "$1: the demo as $2 downloads PostgreSQL once"
  wants_demo "$1" "$2" "is downloaded once from $GW_POSTGRES_MIRROR"
  wants_demo "$1" "$2" "PostgreSQL: a private server from $3"
}

prepared() { # prepared MACHINE USER
  step "$1: the demo as $2 on the packaged server"
  wants_demo "$1" "$2" "PostgreSQL: a private server from /usr/lib/postgresql/"
  if [ "$only" != demo ]; then
    step "$1: make test as $2"
    on "$1" "$2" "make test"
  fi
}

step "the base"
make_base

cp -a "$work/base" "$work/user"
bare user gw /home/gw/.cache/gw/
step "user: make test as gw says what to install, in one list"
if on user gw "make test" >"$work/said" 2>&1; then
  fail "make test needs nothing"
fi
list=$(grep -x '  apt-get update && apt-get install .*' "$work/said") || fail "no list: $(cat "$work/said")"
step "user: root installs that list"
says user root "export DEBIAN_FRONTEND=noninteractive; ${list/ install / install --yes -qq }"
step "user: make deps as gw finds everything"
says user gw "make deps"
prepared user gw
rm -rf --one-file-system "${work:?}/user"

mv "$work/base" "$work/root"
bare root root /var/cache/gw/
step "root: make deps as root installs what is missing"
says root root "make deps"
wants "packages with apt-get"
prepared root root
step "all is well"
