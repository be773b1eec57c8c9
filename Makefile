# Everything here needs Go and nothing else; `make check` also needs a C
# compiler for the race detector. Tools are built into bin/ from tools/go.mod.
# Durations are for two idle cores, with caches filled.

FUZZTIME ?= 30s
LINTER := github.com/golangci/golangci-lint/v2
# A linter's stored findings name files: those of another working tree are not ours.
export GOLANGCI_LINT_CACHE := $(CURDIR)/bin/lint-cache

.DEFAULT_GOAL := help
.PHONY: help test check nightly build lint fmt fuzz bench demo tour results clean

help: ## show this table
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## run all tests in their short forms: 1 min
	go test -timeout 60m ./...

check: ## run what CI runs: tests, race detector, portable variants, linters: 6 min, the first time 10
	@scripts/check.sh

nightly: ## run the long forms of the tests, every fuzz target for a minute: 1 h
	@scripts/nightly.sh

build: ## build the command line tool into bin/everbloom: 5 s, the first time 30 s
	go build -buildvcs=auto -o bin/everbloom ./cmd/everbloom

lint: bin/golangci-lint ## run the linters: 10 s, the first time 3 min
	bin/golangci-lint run ./...

fmt: bin/golangci-lint ## format all Go files: 5 s
	bin/golangci-lint fmt

fuzz: ## run every fuzz target for FUZZTIME (30s) each: 20 min
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## compare with other libraries, short run: 2 min
	cd benchmarks && go run . -short

demo: ## show in ten seconds what filters that change can do; writes everbloom-demo.html
	@echo 'Building the tool: about a minute the first time, then a second. The demo takes a few seconds.'
	@go build -o bin/everbloom ./cmd/everbloom
	@bin/everbloom demo --html everbloom-demo.html

tour: build ## walk through the verbs for filters, command by command
	@scripts/tour.sh

# One folder for each commit, outside of the tree: a run that stopped goes on, and what
# docs/results has of experiments that are no more goes away.
RESULTS = lab-results/$(shell git rev-parse --short=12 HEAD)
DATA ?= lab-results/data

results: build ## run all experiments in full, with real data if DATA is there, into docs/results; goes on where it stopped: 2 h
	bin/everbloom lab run all --full --out $(RESULTS) $(if $(wildcard $(DATA)),--data $(DATA))
	rm -rf docs/results && cp -R $(RESULTS) docs/results
	bin/everbloom lab report --stored --results docs/results --out docs/results/README.md

clean: ## remove what the other targets built
	rm -rf bin dist

# Built once, and again when the pinned versions change. A linter of the pinned
# version and this version of Go that is installed already is taken as it is.
bin/golangci-lint: tools/go.mod tools/go.sum
	@mkdir -p bin; \
	version=$$(awk '$$1 == "$(LINTER)" { print substr($$2, 2) }' tools/go.mod); \
	installed=$$(command -v golangci-lint || true); \
	if [ -n "$$installed" ] && "$$installed" version | grep -q "version $$version built with $$(go env GOVERSION) "; then \
		echo "taking golangci-lint $$version from $$installed"; cp "$$installed" $@; \
	else \
		echo "building golangci-lint $$version: some 2 min, once"; \
		go -C tools build -o ../$@ $(LINTER)/cmd/golangci-lint; \
	fi
