# The modules of this repository: the root, and those below it with a go.mod of
# their own.
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path "*/testdata/*")))
# Those that link most of Kubernetes or of the peers, which takes minutes to build for the race detector,
# and have little of their own that could race.
RACELESS := ./bench/ ./e2e/ ./fuzz/ ./kube/admission/ ./examples/%
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Numbers of executions: go test fails now and then at the end of a duration, and
# makes what is interesting small for up to a minute.
FUZZTIME := 20000x
FUZZMINIMIZE := 100x

# each runs a command in every module, or in those that are given, and stops at the first that fails.
each = set -e; for m in $(or $(2),$(MODULES)); do echo "== $$m"; (cd $$m && $(1)); done

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

.PHONY: test
test: ## run all tests of all modules
	@$(call each,go test ./...)

.PHONY: race
race: ## run them with the race detector, on fewer generated documents
	@$(call each,go test -race -short -timeout 30m ./...,$(filter-out $(RACELESS),$(MODULES)))

.PHONY: bench
bench: ## compare with all peers, for some minutes; BENCH has flags: make bench BENCH="-rounds 3 -only bytes/W3"
	@cd bench && go run . $(BENCH)

.PHONY: bench-smoke
bench-smoke: ## compare in a minute; fails where a ratio has fallen far below what it must be
	@cd bench && go run . -smoke -rounds 3

.PHONY: bench-http
bench-http: ## load servers on loopback, one with the middleware among them, for a minute or two
	@cd bench && go run . -http $(BENCH)

.PHONY: microbench
microbench: ## run the benchmarks of go test
	@$(call each,go test -run '^$$' -bench . -benchmem ./...)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (20000x) executions
	@$(call each,for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
			echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime $(FUZZMINIMIZE) $$p; \
		done; \
	done)

.PHONY: fmt
fmt: ## format the code
	@gofmt -s -w .

.PHONY: vet
vet: ## run go vet
	@$(call each,go vet ./...)

.PHONY: lint
lint: vet ## check the format, run go vet and staticcheck
	@test -z "$$(gofmt -s -l .)" || { echo "not formatted:"; gofmt -s -l .; exit 1; }
	@$(call each,go run $(STATICCHECK) ./...)

.PHONY: tidy
tidy: ## check that go.mod and go.sum say what the code imports
	@$(call each,go mod tidy -diff)
