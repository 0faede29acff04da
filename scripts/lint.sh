#!/usr/bin/env bash
# Checks the Go code, and the statements in it and in SQL files, without a server.
set -euo pipefail
export GOGC=400 # more memory, a fifth less CPU time

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  printf 'gofmt -w is missing on:\n%s\n' "$unformatted" >&2
  exit 1
fi
for module in . bench examples/receive tests/go/testserver/docker; do
  (cd "$module" && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...)
done
# The module that starts servers in Docker; nearly all of the time is its compilation.
(cd tests/go/testserver/docker && go test -count=1 ./...)

# With standard_conforming_strings off, a backslash in a plain literal is an escape. E'' or a bracket expression does not depend
# on the setting.
plain="^(?:[^'eE-]|-(?!-)|[eE](?!')|[eE]'(?:[^'\\\\]|\\\\.)*'|'[^'\\\\]*')*'[^'\\\\]*\\\\"
if grep -rnP -- "$plain" sql/functions sql/migrations/*.sql; then
  echo "a plain literal contains a backslash, see above" >&2
  exit 1
fi
# pkg/migrate is left out: it sets the search_path of its connections, which do not go through a pooler in transaction mode.
go run ./scripts/checkstatements cmd internal/{connection,health,inspect,rows,serve,statement,task} pkg/{gwotel,gwprom,gwui,shim,shimtest}
