#!/usr/bin/env bash
# Checks the Go code, and the statements in it and in SQL files, without a server.
set -euo pipefail

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  printf 'gofmt -w is missing on:\n%s\n' "$unformatted" >&2
  exit 1
fi
for module in . bench examples/receive tests/go/testserver/docker; do
  (cd "$module" && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...)
done
# Of the module that starts servers in Docker; compiling it is nearly all of its work.
(cd tests/go/testserver/docker && go test -count=1 ./...)

# With standard_conforming_strings off, a backslash in a plain literal is an escape: E'' or a bracket expression says it always.
plain="^(?:[^'eE-]|-(?!-)|[eE](?!')|[eE]'(?:[^'\\\\]|\\\\.)*'|'[^'\\\\]*')*'[^'\\\\]*\\\\"
if grep -rnP -- "$plain" sql/functions sql/migrations/*.sql; then
  echo "a plain literal has a backslash, see above" >&2
  exit 1
fi
# pkg/migrate pins the path of its connections, which no pooler in transaction mode shares.
go run ./scripts/checkstatements cmd internal/{connection,health,rows,serve,statement,task} pkg/{gwotel,gwprom,shim,shimtest}
