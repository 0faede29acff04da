#!/usr/bin/env bash
# Runs all tests on the server that GW_TEST_DATABASE_URL names. With SHORT=1 it leaves out what does not depend on the
# server's version: the race detector, the programs in other languages, the mutants that test the tests, and whatever
# else says so by pgtest.OnOneVersion.
set -euo pipefail

# These hardly talk to a server, or only by way of packages that have tests of their own.
no_server='/(internal/(about|config|connection|health|pgtemp|seconds|serve|terminal)|packaging|pkg/(crontab|gwotel)|tests/go/(languages|testserver))$'

# In these one goroutine drives a server, or programs that are built without the detector; some compute much besides.
no_races='/(docs|packaging|tests/go(/(adopt|contract|cron|crontab|doctor|grants|gwrun|languages|nodegw|operate|pgbouncer))?)$'

scripts/with-database.sh scripts/pgtap.sh
packages=$(go list ./...)
if [ "${SHORT:-}" = 1 ]; then
  grep -Ev "$no_server" <<<"$packages" | xargs go test -short -count=1
  exit
fi
grep -Ev "$no_races" <<<"$packages" | xargs go test -race -count=1
grep -E "$no_races" <<<"$packages" | xargs go test -count=1
(cd bench && go test -race -count=1 ./...)
