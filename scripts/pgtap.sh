#!/usr/bin/env bash
# Runs the pgTAP tests of tests/sql in the migrated database DATABASE_URL.
set -euo pipefail

scripts/psql.sh --command 'create extension pgtap'
# Not --dbname: pg_prove takes no URL with a `=` in it.
pg_prove --psql-bin scripts/psql.sh --recurse --ext .sql tests/sql
