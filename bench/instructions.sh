#!/usr/bin/env bash
# instructions.sh [REVISION] compares the instructions that claims and completions of jobs without limits take in the working tree
# with those of a git revision, by default HEAD~1. The counts depend neither on the machine's speed nor on its load. A count is the
# slope between two numbers of calls of one session under cachegrind, so it contains no start of the server and no first call. Needs
# valgrind, and PostgreSQL in Debian's folder or in PG_BIN. It takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

base=$(git rev-parse --short --verify "${1:-HEAD~1}^{commit}")
bin=${PG_BIN:-$(dirname "$(ls /usr/lib/postgresql/*/bin/postgres | tail -n 1)")}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

as_owner() { # PostgreSQL refuses to run as root
  if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi
}

# single DATABASE [COMMAND]... runs the statements on stdin in a server of one session, under a command.
single() {
  local database=$1
  shift
  as_owner "$@" "$bin/postgres" --single -F -j -D "$dir/data" -c autovacuum=off "$database" >/dev/null
}

# one_command removes the empty lines of SQL, at which a command ends, and puts one at the end.
one_command() {
  sed '/^ *$/d'
  echo
}

# install NAME creates a database with the schema and 40 000 ready jobs from the SQL on stdin.
install() {
  echo "create database $1 template template0;" | one_command | single postgres
  {
    cat
    echo "select count(*) from graphile_worker.add_jobs(array(
            select row('task', '{}', null, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, 40000)));"
    echo "analyze graphile_worker._private_jobs;"
  } | one_command | single "$1"
}

# calls BATCH COUNT COMPLETE prints a block that claims, and completes if COMPLETE is true, COUNT times.
calls() {
  echo "do \$\$
    declare job_ids bigint[]; the_lease bigint;
    begin
      for i in 1..$2 loop
        select array_agg(g.id), min(g.lease) into job_ids, the_lease from graphile_worker.get_job_batch('worker', '{task}', $1) as g;
        commit;
        if $3 then
          perform graphile_worker._gw_complete_claim('worker', job_ids, the_lease);
          commit;
        end if;
      end loop;
    end \$\$;" | one_command
}

# count NAME BATCH COUNT COMPLETE prints the instructions of a session that makes these calls, on a copy of the server's files.
count() {
  rm -rf "$dir/data"
  cp -a "$dir/filled" "$dir/data"
  calls "$2" "$3" "$4" >"$dir/calls"
  single "$1" valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null <"$dir/calls" 2>"$dir/log"
  if grep -E 'ERROR|FATAL' "$dir/log" >&2; then exit 1; fi
  sed -nE 's/.*I +refs: *([0-9,]+)$/\1/p' "$dir/log" | tr -d ,
}

# slope NAME BATCH FEW MANY COMPLETE prints the instructions of a job.
slope() {
  echo $((($(count "$1" "$2" "$4" "$5") - $(count "$1" "$2" "$3" "$5")) / (($4 - $3) * $2)))
}

chmod 755 "$dir"
as_owner true
if [ "$(id -u)" = 0 ]; then chown postgres "$dir"; fi
as_owner "$bin/initdb" -D "$dir/data" -A trust -U postgres --no-sync >/dev/null
mkdir "$dir/base"
git archive "$base" | tar -x -C "$dir/base"
(cd "$dir/base" && go run -buildvcs=false ./cmd/gw-migrate print) | install older
go run ./cmd/gw-migrate print | install newer
mv "$dir/data" "$dir/filled"

echo "| batch | claim | of $base | ratio | claim and complete | of $base | ratio |"
echo "|---|---|---|---|---|---|---|"
while read -r batch few many; do
  row="| $batch |"
  for complete in false true; do
    new=$(slope newer "$batch" "$few" "$many" $complete)
    old=$(slope older "$batch" "$few" "$many" $complete)
    row+=" $new | $old | $(awk "BEGIN { printf \"%.3f\", $new / $old }") |"
  done
  echo "$row"
done <<<"1 50 450
10 20 120
500 4 24"
