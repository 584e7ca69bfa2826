# What there is to do. "make help" lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.PHONY: help build demo cluster lab test test-long soak bench bench-growth bench-peers profile release fuzz lint lint-format lint-static format setup-demo setup-test clean

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# Of "test": what emulated networks draw random numbers from; it differs from commit to commit, so that in time all are tried.
# A test that fails says it. "make test-long" tries all.
export TEST_SEED ?= $(shell printf %d "0x$$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0)")
# Of "test", "test-long" and "fuzz": how long each fuzz target runs.
FUZZTIME ?=
# Of "soak": how long it runs, and where its picture goes.
SOAK_SECONDS ?= 3600
SOAK_PICTURE ?= soak.svg
# Of "bench": which benchmarks run, and an older result to compare.
PKG ?= ./...
BENCH ?= .
OLD ?=
# Of "bench-growth": of what there is more; of flows, active (flows of a million), hops, exporters, shards and sampling, if it is empty.
AXES ?=
RESULT = bench/results/$(VERSION).txt

CONSOLE = $(shell find console/src console/public console/index.html console/vite.config.ts console/package-lock.json -type f)

# Without symbols for debuggers, which is a fifth of it; stack traces and profiles have their names. Of the libraries for
# C++, which DuckDB needs, it has a copy, if the compiler has one: a directory with nothing else comes first.
build: console/dist/index.html ## build bin/waybill, with the console if Node is there
	@mkdir -p bin/lib
	@ln -sf "$$($${CC:-cc} -print-file-name=libstdc++.a)" bin/lib/libstdc++.a
	go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION) -extldflags "-L$(CURDIR)/bin/lib -static-libgcc"' \
		-o bin/waybill ./cmd/waybill

# A clean machine has no packages yet; npm leaves a list of them in node_modules that is as new as what it installed.
console/dist/index.html: $(CONSOLE)
	@if ! command -v npm >/dev/null; then echo 'no npm: bin/waybill will have no console'; exit 0; fi; \
	cd console; \
	if [[ package-lock.json -nt node_modules/.package-lock.json ]]; then npm ci --no-audit --no-fund; fi; \
	npm run --silent build

release: console/dist/index.html ## make what is released, in release: programs, deb, rpm, checksums (linux amd64, and arm64)
	scripts/release

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup-demo build ## run Waybill on an emulated fabric, in which things go wrong (DEMO_SECONDS=N: for N seconds)
	scripts/demo

cluster: setup-demo build ## run the demo with two collectors, a bus, an analyzer, its tables in two processes and a server for questions (DEMO_SECONDS=N: for N seconds)
	scripts/demo --cluster

lab: build ## run the demo on six routers of this kernel, in network namespaces, as root (LAB_SECONDS=N: for N seconds)
	scripts/lab

test: setup-test console/dist/index.html ## run everything that must pass (FUZZTIME=2s of each fuzz target, TEST_SEED=N)
	FUZZTIME=$(FUZZTIME) scripts/test short

test-long: setup-test console/dist/index.html ## the same with all seeds, long proofs, all under -race (FUZZTIME=2m): hours
	FUZZTIME=$(FUZZTIME) scripts/test long

soak: setup-test console/dist/index.html ## load, kill -9, a full disk and more for an hour, as root, and count (SOAK_SECONDS=N)
	SOAK_SECONDS=$(SOAK_SECONDS) SOAK_PICTURE=$(abspath $(SOAK_PICTURE)) go test -count 1 -v -timeout 0 -run '^TestSoak$$' ./bench
	@echo "see $(SOAK_PICTURE)"

bench: ## run benchmarks ten times and show medians (PKG=./wire/... BENCH=Decode OLD=bench/results/FILE)
	@mkdir -p bench/results
	@echo '*' > bench/results/.gitignore
	go test -run '^$$' -bench '$(BENCH)' -count 10 -timeout 2h -pgo cmd/waybill/default.pgo $(PKG) | tee $(RESULT)
	go tool benchstat $(OLD) $(RESULT)

bench-growth: ## measure and draw a report's time and memory as there is more of one thing (AXES="flows hops")
	@mkdir -p bench/results
	@echo '*' > bench/results/.gitignore
	GROWTH_AXES='$(AXES)' GROWTH_PICTURES=$(CURDIR)/docs/images GROWTH_RESULT=$(CURDIR)/bench/results/growth.txt \
		go test -count 1 -v -timeout 0 -run '^TestGrowth$$' ./bench

bench-peers: ## compare with what other programs take for the same packets, and print a table
	PEERS_RUNS=10 go test -count 1 -v -run '^TestPeers$$' ./bench
	@go list -m github.com/netsampler/goflow2/v2 github.com/gopacket/gopacket

profile: ## measure where the time of a report goes, for the compiler (cmd/waybill/default.pgo)
	go test -run '^$$' -bench Pipeline -benchtime 5s -cpuprofile cmd/waybill/default.pgo -o "$$(mktemp)" ./analyze

fuzz: ## run every fuzz target for longer (FUZZTIME=1h PKG=./wire/inband)
	scripts/fuzz $(or $(FUZZTIME),2m) $(PKG)

lint: lint-format lint-static ## check the format (gofumpt), go vet, staticcheck
	go vet ./...

lint-format:
	@files=$$(go tool gofumpt -l .); test -z "$$files" || { echo "not formatted, run make format:" $$files; exit 1; }

lint-static:
	go tool staticcheck ./...

format: ## format the Go files
	go tool gofumpt -w .

setup-demo: ## install what "make demo" needs
	@scripts/setup demo

setup-test: ## install what "make test" needs
	@scripts/setup test

clean: ## remove what was built
	rm -rf bin release console/dist/assets console/dist/index.html
