.DEFAULT_GOAL := help
.PHONY: help test test-stress run test-ha test-languages test-browser pictures test-matrix interleave mutants soak perf bench bench-report bench-sql bench-tasks bench-instructions lint lint-go lint-sql deps demo snapshot calls release extension install dist-pgxn man lint-packaging lint-prometheus lint-release publish

# The programs do not need C; targets with the race detector set CGO_ENABLED=1 themselves.
test test-stress test-matrix interleave mutants soak lint lint-go lint-sql: export CGO_ENABLED = 0

BUILD = build

goreleaser := go run github.com/goreleaser/goreleaser/v2@v2.15.0

# Targets that run the race detector, which needs a C compiler.
soak: export RACE = 1
test-matrix: export RACE = $(if $(SHORT),,1)

# The server for tests: GW_TEST_DATABASE_URL, else local binaries, else Docker. POSTGRES=18 chooses a version of
# tests/postgres-versions.
testserver := $(if $(POSTGRES),GW_TEST_POSTGRES=$(POSTGRES) GW_TEST_BIN_DIR="$$(scripts/postgres-bin.sh $(POSTGRES))" )go run ./tests/go/testserver --

help: ## List the targets
	@sed -En 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST)

test: deps ## Run the pgTAP and the Go tests, five minutes (RACE=1 with the race detector, which needs a C compiler)
	$(testserver) go run ./scripts/runtests $(if $(RACE),-race)

test-stress: deps ## Run the tests with crashes, outages, races and random calls, and those of bench/
	$(testserver) go run ./scripts/runtests -stress

run: ## Run a command with a test server (CMD="go test ./pkg/shim -run Retry"); see CONTRIBUTING.md
	$(testserver) $(CMD)

test-ha: ## Run failovers of a Patroni cluster, with downloaded Debian packages (RUN=/node for some events)
	go test -tags ha -count=1 -timeout 0 -v ./tests/ha $(if $(RUN),-run '$(RUN)')

test-languages: ## Run the examples in other languages; installs PHP, Ruby, a JDK and their drivers
	@scripts/deps.sh languages
	GW_TEST_LANGUAGES=1 $(testserver) go test -count=1 ./tests/go/languages

test-browser: ## Run the tests of the console in a real browser; installs Chromium (SHORT=1 checks each page in one theme and width)
	@scripts/deps.sh browser
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --silent
	go build -o build/testserver ./tests/go/testserver
	$(if $(SHORT),,cd tests/browser && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...)
	cd tests/browser && ../../build/testserver -- go test -count=1 . $(if $(SHORT),,-browser.all)

pictures: ## Take the pictures of the console for the documents anew, of the demo; installs Chromium
	@scripts/deps.sh browser
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --silent
	go build -o build/testserver ./tests/go/testserver
	cd tests/browser && ../../build/testserver -- go test -count=1 -run Pictures . -browser.pictures

test-matrix: deps ## Run all tests on several versions of PostgreSQL (VERSIONS="12 18"; default: tests/postgres-versions; SHORT=1 omits tests that do not depend on the version)
	SHORT=$(SHORT) scripts/test-matrix.sh $(VERSIONS)

interleave: deps ## Run two calls at once in every order, all pairs (RUN=ThreeCalls for triples; FLAGS="-interleave.world='^ready: get_job, '")
	$(testserver) go test -count=1 -timeout 0 -run '$(or $(RUN),TwoCalls)' ./tests/go/interleave -interleave.orders=0 -interleave.most=0 -v $(FLAGS)

mutants: deps ## Make mistakes in the functions of claims and ends, one at a time, and tell which no test finds (FLAGS="-sample 60"; see tests/go/mutants)
	$(testserver) go run ./tests/go/mutants $(FLAGS)

soak: deps test-browser ## Run the random and timed tests for hours, and all cases from which a test run selects
	$(testserver) go test -count=1 -timeout 0 -run 'IsNamed|IsSeen|AllZones|EachOfOurVersions/.' ./pkg/migrate ./tests/go ./tests/go/adversary ./tests/go/cron \
	  ./tests/go/fuzz ./tests/go/history ./tests/go/limits
	CGO_ENABLED=1 $(testserver) go test -race -count=1 -timeout 0 ./tests/go/adversary ./tests/go/baddays ./tests/go/beside ./tests/go/history \
	  ./tests/go/encodings ./tests/go/neighbours ./tests/go/recovery ./internal/pgtemp ./internal/pgtest ./pkg/gwotel ./pkg/gwprom ./pkg/gwui
	$(testserver) go test -count=1 -timeout 0 -run Predict ./tests/go/fuzz -fuzz.calls=200000 -fuzz.seed=0 -v
	$(testserver) go test -count=1 -timeout 0 -run AtOnce ./tests/go/history -history.calls=500000 -history.seed=0 -v
	$(testserver) go test -count=1 -timeout 0 -run WhySaysNext ./tests/go/limits -limits.tables=10000 -limits.seed=0 -v
	$(testserver) go test -count=1 -timeout 0 -run Hostile ./tests/go/adversary -adversary.for=1h -adversary.seed=0 -v
	$(testserver) go test -count=1 -timeout 0 ./tests/go/interleave -interleave.orders=20000 -interleave.most=1000 -interleave.triples=20000 -interleave.seed=0 \
	  -interleave.pgtap=tests/sql -model.calls=20000 -model.seed=100 -v
	$(testserver) go test -count=1 -timeout 0 -run NoLane ./tests/go/limits -limits.jobs=20000 -v
	$(testserver) go test -count=1 -timeout 0 -run 'TakeWhatTheModel|Mistakes|AtOnce' ./tests/go/engine -engine.worlds=200 -engine.load=2m -v
	$(testserver) go run ./tests/go/mutants -sample 40 -least 95
	$(testserver) go test -count=1 -timeout 0 -run Random ./tests/go/cron -cron.patterns=20000 -v
	$(testserver) go test -count=1 -timeout 0 -run DatabaseIsPaused ./tests/go/recovery -recovery.outage=60s -v
	$(testserver) go test -count=1 -timeout 0 -run ConnectionsAreCut ./tests/go/recovery -recovery.cut=16000 -v
	$(testserver) go test -count=1 -timeout 0 -run ShareACrontab ./tests/go/gwrun -cron.minutes=4 -v
	$(testserver) go test -count=1 -timeout 0 -run Checksums ./tests/go/gwrun -checksums.of= -v
	$(testserver) go test -count=1 -timeout 0 -run TheTour ./docs -tour.minute -v
	go test -count=1 -run LargeCrontab ./pkg/crontab -crontab.megabytes=10 -v
	$(testserver) go test -count=1 -timeout 0 -run 'LargePayloads|OfAnySize' ./tests/go/baddays -baddays.payloads=3000 -v
	$(testserver) go test -count=1 -timeout 0 -run 'Flood|SpreadOut|ADayOfLoad|ClockJumps' ./tests/go/baddays \
	  -baddays.jobs=1000000 -baddays.workers=100 -baddays.minutes=1440 -baddays.clock -v
	$(testserver) go test -count=1 -timeout 0 -run LargeQueue ./pkg/gwui -gwui.jobs=1000000 -gwui.looks=20 -gwui.viewers=50 -v
	$(MAKE) test-ha
	tests/machines.sh

perf: deps ## Graphile Worker's own performance test: start and stop, jobs a second, latency
	cd bench && go run ./worker -run '^perf$$' -rounds 1 $(FLAGS)

bench: deps ## Compare the worker with Node's, River and hand-written SQL (FLAGS="-quick -rounds 1"; see bench/README.md)
	cd bench && go run ./worker $(FLAGS)

bench-report: deps ## Run all benchmarks of the worker on PostgreSQL 15 and 18, and write docs/benchmark.md and its charts; an hour
	mkdir -p docs/img
	pg15=$$(scripts/postgres-bin.sh 15) && pg18=$$(scripts/postgres-bin.sh 18) && cd bench && go run ./worker \
	  -pg-bin "$$pg15" -pg-bin "$$pg18" -report ../docs/benchmark.md -charts ../docs/img $(FLAGS)

bench-sql: deps ## Compare the SQL functions with hand-written SQL and Node's (FLAGS="-quick -rounds 1"; see bench/README.md)
	cd bench && go run ./sql $(FLAGS)

bench-instructions: ## Count the instructions of claims and completions, compared with those of a git revision; needs valgrind (BASE=HEAD~1)
	bench/instructions.sh $(BASE)

bench-tasks: deps ## Measure the cost of gw-run itself for each kind of task (FLAGS="-quick -rounds 1"; see bench/README.md)
	cd bench && go run ./tasks $(FLAGS)

lint: lint-go lint-sql ## Check the form of the Go code and every PL/pgSQL function

lint-go: # needs nothing but Go
	scripts/lint.sh

lint-sql: deps
	$(testserver) scripts/with-database.sh scripts/check-functions.sh

lint-packaging: deps ## Check the Dockerfile, the compose file, the systemd unit, the Kubernetes objects, the zip for PGXN, .github, the schema of gw.yaml, the manual pages and what else releases contain
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes= .github/workflows/*
	cd packaging/lint && go vet ./... && go test -count=1 ./...
	cd packaging/man && go vet ./... && go test -count=1 ./...

lint-prometheus: ## Evaluate the alerts and the dashboard on recorded samples by Prometheus, which takes minutes to compile
	cd packaging/prometheus && go vet ./... && go test -count=1 ./...

man: ## Write the manual pages of gw-run and gw-migrate to build/man
	cd packaging/man && go run . ../../build/man

lint-release: ## Make a release with GoReleaser, without publishing it, and check its archives and packages; takes minutes
	$(goreleaser) check
	$(goreleaser) release --snapshot --clean
	cd packaging/lint && GW_TEST_DIST='$(CURDIR)/dist' go test -count=1 -run OfARelease .

publish: ## Publish the release of the tag with GoReleaser, as a draft; the workflow release does it
	$(goreleaser) release --clean

deps: ## Install the packages that the tests need (apt, as root or in CI), or list them
	@scripts/deps.sh

demo: ## Try the queue on a private PostgreSQL, until Ctrl-C
	go run ./cmd/gw-run demo

snapshot: ## Write the differences of sql/functions from the released migrations into the migration that installs them
	go run ./scripts/release snapshot

calls: deps ## Record the statements of the worker and the client of a release, for tests of later schemas (VERSION=0.1.0)
	rm -f build/calls && mkdir -p build
	GW_TEST_RECORD='$(CURDIR)/build/calls' $(testserver) go test -count=1 -p 1 ./pkg/shim ./pkg/gwprom ./tests/go/grants
	$(testserver) scripts/with-database.sh go run ./scripts/release calls '$(VERSION)' build/calls

release: ## Make all migrations final and date the changelog (VERSION=0.1.0); see CONTRIBUTING.md
	go run ./scripts/release cut '$(VERSION)'

extension: ## Write the files of the PostgreSQL extension to build/extension (SCHEMA=name)
	rm -rf $(BUILD)/extension
	go run ./cmd/gw-migrate extension $(BUILD)/extension $(if $(SCHEMA),--schema '$(SCHEMA)')

install: extension ## Install the extension's files into a server, by PGXS (SCHEMA=name, PG_CONFIG=path, DESTDIR=path)
	cp packaging/pgxn/Makefile $(BUILD)/extension
	$(MAKE) -C $(BUILD)/extension install

dist-pgxn: extension ## Write the extension's zip for PGXN to build (VERSION=0.1.0)
	@test -n '$(VERSION)' || { echo 'make dist-pgxn: VERSION is missing, as in VERSION=0.1.0' >&2; exit 1; }
	schema=$$(sed -n "s/^default_version = '\(.*\)'/\1/p" $(BUILD)/extension/*.control) && \
	  sed 's/@VERSION@/$(VERSION)/; s/@SCHEMA@/'"$$schema/" packaging/pgxn/META.json >$(BUILD)/extension/META.json
	cp LICENSE packaging/pgxn/Makefile packaging/pgxn/README.md $(BUILD)/extension
	rm -rf $(BUILD)/graphile_worker-$(VERSION) && mv $(BUILD)/extension $(BUILD)/graphile_worker-$(VERSION)
	cd $(BUILD) && python3 -m zipfile -c graphile_worker-$(VERSION).zip graphile_worker-$(VERSION)
