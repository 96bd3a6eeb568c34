# The modules of this repository: the root, and those below it with a go.mod of
# their own.
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path "*/testdata/*")))
# Those that link most of Kubernetes, of Caddy or of the peers, which takes minutes to build for the race detector,
# and have little of their own that could race.
RACELESS := ./bench/ ./caddy/ ./e2e/ ./examples/% ./fuzz/ ./internal/% ./kube/controllerruntime/ ./playground/ ./release/ ./upstream/
# Tests of the command that start processes, or take minutes to count memory and steps.
RACESKIP := ^Test(Scripts|README|WriteMemory|WriteHostile|CompressedBombs)$$
RACED := $(filter-out ./ $(RACELESS),$(MODULES))
# A number, for one of these modules.
TURN ?=
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.16.0
# Folders, with the packages below them: schema/validation is one.
MUTATED := internal/jsonwire internal/position internal/values internal/names internal/skip internal/findings internal/syntax internal/recognize internal/recognize/compile internal/screen internal/validate internal/walk internal/apiserver schema decoder yamlbridge request sample
# Packages whose lists of survivors are complete.
SAMPLED := internal/jsonwire schema decoder yamlbridge middleware projection
PERCENT ?= 5
SEED ?= 1
# The tests of decoder that start goroutines in which several share something.
RACES := ^(TestErrorsAreTheCallers|TestUsedWhileAtWork|TestAfterPanics|TestStreamDepth|TestConcurrently|TestBudgetAtItsEdgeConcurrently|TestInParallel.*)$$|^TestAdversarial$$/^100$$
# The packages that count steps, or use unsafe, which checkptr minds.
COSTS := ./decoder ./yamlbridge ./internal/adversarial ./internal/memory ./internal/names ./internal/position ./internal/skip ./internal/values ./internal/walk
SHARED := ./errors ./middleware ./projection ./request ./schema/reload ./tokens
TESTFLAGS :=
FUZZTIME ?= 20000x
FUZZMINIMIZE ?= 100x
TORTURE ?= 100
SHORT ?= -short

# each runs a command in every module, or in those that are given, and stops at the first that fails.
each = set -e; for m in $(or $(2),$(MODULES)); do echo "== $$m"; (cd $$m && $(1)); done

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

.PHONY: test
test: ## run all tests of all modules; TESTFLAGS are for go test
	@$(call each,go test -timeout 30m $(TESTFLAGS) ./...)

.PHONY: race
race: race-decoder ## run what several goroutines share with the race detector, in the root and other modules; TURN=N takes one of these
	@go test -race -short -timeout 30m $(SHARED)
	@go test -race -short -run Catalog ./schema
	@go test -race -run Concurrently ./internal/skip
	@$(call each,go test -race -short -timeout 30m -skip '$(RACESKIP)' ./...,$(if $(TURN),$(word $(shell expr $(TURN) % $(words $(RACED)) + 1),$(RACED)),$(RACED)))

.PHONY: race-decoder
race-decoder: ## the decoder's part of race; SHORT= runs it in full
	@go test -race $(SHORT) -timeout 30m -run '$(RACES)' ./decoder

.PHONY: costs
costs: ## count steps and memory, look for what buffers still show of other documents, mind what is unsafe; SHORT= for all
	@go test $(SHORT) -timeout 30m -tags steps,poison -gcflags='github.com/espalier-dev/espalier/...=-d=checkptr' $(COSTS)

.PHONY: bench
bench: ## compare with all peers, for some minutes; BENCH has flags: make bench BENCH="-rounds 3 -only bytes/W3"
	@cd bench && go run . $(BENCH)

.PHONY: bench-smoke
bench-smoke: ## compare for two minutes; fails where a ratio has fallen far below what it must be
	@cd bench && go run . -smoke -rounds 2

.PHONY: bench-targets
bench-targets: ## print what must be reached and what is, with kernels and without, for half an hour; BENCH has flags
	@cd bench && go run . -targets $(BENCH) && go run -tags purego . -targets $(BENCH)

.PHONY: bench-http
bench-http: ## load servers on loopback, one with the middleware among them, for a minute or two
	@cd bench && go run . -http $(BENCH)

.PHONY: microbench
microbench: ## run the benchmarks of go test
	@$(call each,go test -run '^$$' -bench . -benchmem ./...)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (20000x; or a duration, as 5m), those that FUZZ matches
	@FUZZTIME=$(FUZZTIME) FUZZMINIMIZE=$(FUZZMINIMIZE) .ci/fuzz

.PHONY: torture
torture: ## the long run: TORTURE (100) percent of about four hours; SEED for other texts
	@TORTURE=$(TORTURE) .ci/torture

.PHONY: mutation
mutation: ## change the code of MUTATED in small ways and see whether tests fail, for hours
	@set -e; for p in $(MUTATED); do echo "== $$p"; GOFLAGS="-short -failfast" go run $(GREMLINS) unleash ./$$p; done

.PHONY: mutants-sample
mutants-sample: ## run PERCENT (5) of the mutants of SAMPLED that SEED (1) chooses: each survivor is in testdata/mutation
	@go build -C internal/tools -o $(CURDIR)/bin/survivors ./survivors
	@bin/survivors -percent $(PERCENT) -seed $(SEED) $(SAMPLED)

.PHONY: mutants
mutants: ## plant each fault of testdata/mutants and see whether tests find it; MUTANTS has flags
	@cd internal/tools && go run ./mutants -root ../.. $(MUTANTS)

.PHONY: cover
cover: ## fail where tests do not cover the core packages and testdata/coverage does not say why
	@.ci/cover

.PHONY: ports
ports: ## build and vet for other machines, and run what there is an emulator for
	@.ci/ports

.PHONY: release
release: ## build, sign and upload a draft of the release that the tag HEAD has names; for the workflow
	@go run $(GORELEASER) release --clean

.PHONY: release-check
release-check: ## build what a release is made of, without signatures, into dist/, and run the command
	@GORELEASER=$(GORELEASER) .ci/release-check

.PHONY: bump
bump: ## set the version of all modules: make bump VERSION=v0.2.0
	@.ci/bump $(VERSION)

.PHONY: tags
tags: ## tag HEAD as the release whose version all modules have
	@.ci/tags

.PHONY: site
site: ## build the playground and the pages into site/_site, and test them in a browser; needs npm
	@.ci/site

.PHONY: fmt
fmt: ## format the code
	@gofmt -s -w .

.PHONY: lint
lint: ## check the format, run golangci-lint with go vet and staticcheck, and actionlint
	@GOLANGCI=$(GOLANGCI) ACTIONLINT=$(ACTIONLINT) .ci/lint

.PHONY: tidy
tidy: ## check that go.mod and go.sum say what the code imports
	@.ci/tidy
