#!/usr/bin/env bash
# Checks every PL/pgSQL function of the migrated database DATABASE_URL with plpgsql_check.
set -euo pipefail

scripts/psql.sh --file scripts/check-functions.sql
