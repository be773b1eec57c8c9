# Everything here needs Go and nothing else; `make check` also needs a C
# compiler for the race detector. Tools are built into bin/ from tools/go.mod.

FUZZTIME ?= 30s

.DEFAULT_GOAL := help
.PHONY: help check build test lint fmt fuzz bench demo tour results clean

help: ## show this table
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: ## everything CI runs: format, vet, lint, tests with race detector, portable variants
	@scripts/check.sh

build: ## build the command line tool into bin/everbloom
	go build -o bin/everbloom ./cmd/everbloom

test: ## run the tests, quickly
	go test ./...

lint: bin/golangci-lint ## run the linters
	bin/golangci-lint run ./...

fmt: bin/golangci-lint ## format all Go files
	bin/golangci-lint fmt

fuzz: ## run every fuzz target for FUZZTIME (30s) each
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## compare with other libraries, short run
	cd benchmarks && go run . -short

demo: ## show in ten seconds what filters that change can do; writes everbloom-demo.html
	@echo 'Building the tool: about a minute the first time, then a second. The demo takes a few seconds.'
	@go build -o bin/everbloom ./cmd/everbloom
	@bin/everbloom demo --html everbloom-demo.html

tour: build ## walk through the verbs for filters, command by command
	@scripts/tour.sh

results: build ## run all experiments in full, some two hours, into docs/results; goes on where it stopped
	bin/everbloom lab run all --full --out docs/results
	bin/everbloom lab report --stored --results docs/results --out docs/results/README.md

clean: ## remove what the other targets built
	rm -rf bin dist

# Built once, and again when the pinned versions change.
bin/golangci-lint: tools/go.mod tools/go.sum
	go -C tools build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
