#!/usr/bin/env bash
# Runs all tests on the server that GW_TEST_DATABASE_URL names.
set -euo pipefail

scripts/with-database.sh scripts/pgtap.sh
go test -race -count=1 ./...
(cd bench && go test -race -count=1 ./...)
