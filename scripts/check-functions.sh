#!/usr/bin/env bash
# Checks the functions of the migrated database DATABASE_URL: what is PL/pgSQL with plpgsql_check, and that no name of
# somebody else's slips into any.
set -euo pipefail

scripts/psql.sh --file scripts/check-functions.sql
scripts/psql.sh --file scripts/check-names.sql
