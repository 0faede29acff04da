#!/usr/bin/env bash
# Runs all tests on the server that GW_TEST_DATABASE_URL names. With SHORT=1 it leaves out what does not depend on the
# server's version: the race detector, the programs in other languages, the mutants that test the tests.
set -euo pipefail

scripts/with-database.sh scripts/pgtap.sh
if [ "${SHORT:-}" = 1 ]; then
  go test -short -count=1 ./...
  exit
fi
go test -race -count=1 ./...
(cd bench && go test -race -count=1 ./...)
