#!/usr/bin/env bash
# Checks the functions of the migrated database DATABASE_URL: PL/pgSQL with plpgsql_check, and that no function finds objects
# of other schemas by unqualified names.
set -euo pipefail

scripts/psql.sh --file scripts/check-functions.sql
scripts/psql.sh --file scripts/check-names.sql
