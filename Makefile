# Every target says what it needs; a target that cannot run says so and why.
GO        ?= go
BIN       ?= bin
GOLANGCI  ?= v2.15.0
SOAK      ?= 30m
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# PROBE_IMAGE=NAME@sha256:DIGEST builds a plugin with another default image for its probe pods.
LDFLAGS   := -s -w -X github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin.Version=$(VERSION) \
	$(if $(PROBE_IMAGE),-X github.com/mountdoctor/kubectl-mountdoctor/pkg/launch.DefaultImage=$(PROBE_IMAGE))
# kustomize, which cli-runtime brings, can load Go plugins; a program that can do that keeps
# every exported method of every type: half of its size.
TAGS      := kustomize_disable_go_plugin_support
# What mostly waits for a server or a person is compiled without inlining: 2 MB less.
SELDOM    := k8s.io/... google.golang.org/... sigs.k8s.io/... golang.org/x/net/... github.com/google/... github.com/go-openapi/... github.com/spf13/... github.com/mountdoctor/kubectl-mountdoctor/pkg/collect/... github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/... github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy/... github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom/... github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/... github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin/... github.com/mountdoctor/kubectl-mountdoctor/pkg/render/... github.com/mountdoctor/kubectl-mountdoctor/pkg/report/... github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle/... github.com/olekukonko/... github.com/emicklei/... github.com/gorilla/... github.com/moby/... github.com/fxamacker/... github.com/fatih/... github.com/clipperhouse/... golang.org/x/oauth2/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/drbd/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security/... github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb/...
CASE      ?= multipathd-mount-busy-1210

.DEFAULT_GOAL := help
.PHONY: help build agents test test-node fuzz e2e e2e-soak e2e-speed e2e-vm lint fmt bench cover golden report-shape new-cause new-case case read-fields words cases demo install snapshot-release reproduce man site recording screenshots licences longhorn-schemas clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

build: ## build bin/kubectl-mountdoctor
	@echo "building $(BIN)/kubectl-mountdoctor"
	@CGO_ENABLED=0 $(GO) build -tags $(TAGS) -trimpath $(foreach p,$(SELDOM),-gcflags=$(p)=-l) -ldflags '$(LDFLAGS)' -o $(BIN)/kubectl-mountdoctor ./cmd/kubectl-mountdoctor

agents: ## build the node agents of all architectures and embed them
	scripts/build-agents.sh

test: ## every test that needs no privileges and no network
	$(GO) vet ./...
	$(GO) test ./...

test-node: ## the agent on the kernel of this machine (root; mounts and loop devices)
	$(GO) test -tags node -count=1 -v ./test/node/...

fuzz: ## every parser for a minute of hostile input (FUZZTIME=60s)
	scripts/fuzz.sh

e2e-vm: ## the agent in virtual machines with real iSCSI, multipathd, LVM, NFS (root, a Debian mirror)
	test/vm/run.sh

e2e-speed: ## the real cluster once more: cost beside kubectl get and a bare pod, and in a large cluster
	MOUNTDOCTOR_SPEED=1 test/e2e/run.sh e2e.test -test.v -test.run TestSpeed -test.timeout 30m

e2e-soak: ## a real cluster for SOAK=30m: a hundred volumes, pods that come and go, faults at random, questions all the while
	MOUNTDOCTOR_SOAK=$(SOAK) test/e2e/run.sh e2e.test -test.v -test.run TestSoak -test.parallel 32 -test.timeout 2h

e2e: ## a real cluster on this machine (root; about 8 min more the first time)
	GO='$(GO)' test/e2e/run.sh

lint: $(BIN)/golangci-lint-$(GOLANGCI) ## golangci-lint, pinned; the import table and the style; functions that nothing calls; known vulnerabilities
	$(BIN)/golangci-lint-$(GOLANGCI) run ./...
	BIN='$(BIN)' scripts/deadcode
	BIN='$(BIN)' scripts/vulncheck

$(BIN)/golangci-lint-$(GOLANGCI):
	@mkdir -p $(BIN)
	GOBIN=$(abspath $(BIN)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	mv $(BIN)/golangci-lint $@

fmt: ## gofmt everything
	gofmt -w cmd internal pkg

bench: ## agent against grep and lsof, and growth with size
	$(GO) test -run '^$$' -bench . -benchmem -benchtime 1x -timeout 30m ./test/bench/...
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/...

cover: ## coverage of the tests, by package
	$(GO) test -coverprofile=coverage.out -coverpkg=./pkg/... ./... >/dev/null
	$(GO) tool cover -func=coverage.out | tail -1

golden: ## rewrite the golden reports; review the difference as prose
	$(GO) test ./test/golden -update

report-shape: ## how many lines the reports of the corpus have, and where the first command stands
	$(GO) run ./internal/casetool -shape

new-cause: ## scaffold a cause: make new-cause NAME=foo-breaks-bar LAYER=device
	$(GO) run ./scripts/newcause -name '$(NAME)' -layer '$(LAYER)'

new-case: ## begin a case, a cluster in which nothing is wrong yet: make new-case NAME=name-of-the-incident DRIVER=ebs.csi.aws.com
	$(GO) run ./scripts/newcase -name '$(NAME)' -driver '$(DRIVER)'

# Four tests walk the corpus as one and cannot be asked about one case.
case: ## every check of one case, in seconds: make case NAME=multipathd-mount-busy-1210
	@test -d 'testdata/cases/$(NAME)' || { echo 'case: there is no testdata/cases/$(NAME)'; exit 1; }
	$(GO) run ./internal/casetool '$(NAME)'
	ONE_CASE=1 $(GO) test ./pkg/diagnosis -run '/^$(NAME)$$' -skip 'TestEachGuardHolds|TestSameCausesInline|TestForgedEvents|TestBroken'
	$(GO) test ./pkg/collect ./test/golden -run '(TestCorpus|TestGolden)/^$(NAME)$$'

read-fields: ## write which fields of objects the rules read: a capture keeps no others
	$(GO) run ./scripts/readfields

words: ## write which words a redacted capture may say: those of the rules and probes
	$(GO) run ./scripts/words

cases: ## run the corpus and print one line per case
	$(GO) run ./internal/casetool
	@if [ -d testdata/pending ]; then echo 'Not right yet (testdata/pending):'; $(GO) run ./internal/casetool -root testdata/pending -brief; fi

demo: build ## a real report from a recorded incident: make demo CASE=founding-rbd-node-exporter
	@$(BIN)/kubectl-mountdoctor $$(cat testdata/cases/$(CASE)/ask.txt) --from testdata/cases/$(CASE) || [ $$? = 2 ] # 2: a cause was found

install: build ## install as a kubectl plugin into ~/.local/bin
	install -D -m 0755 $(BIN)/kubectl-mountdoctor $(HOME)/.local/bin/kubectl-mountdoctor

RELEASE   ?= v0.0.0-snapshot

snapshot-release: agents ## archives, checksums and krew manifest into dist/ (no network): make snapshot-release RELEASE=v1.2.3
	$(GO) run ./scripts/release -version $(RELEASE)

reproduce: ## build a release twice in different directories and compare: make reproduce PLATFORMS=all
	scripts/reproduce

man: ## manual pages into dist/man
	$(GO) run ./scripts/man -version $(VERSION)

site: ## the documentation's site into dist/site/html: SITE_URL=https://… (Debian: mkdocs-material)
	rm -rf dist/site
	$(GO) run ./scripts/site -url '$(SITE_URL)'
	@command -v mkdocs >/dev/null || { echo 'site: the sources are in dist/site; no mkdocs here to make pages of them (Debian: apt-get install mkdocs-material)'; exit 1; }
	mkdocs build --strict --quiet -f dist/site/mkdocs.yml -d html

recording: build ## the terminal of the README (docs/demo.svg) from a recorded incident
	$(GO) run ./scripts/recording -out docs/demo.svg -drop 'look again first' -typed "kubectl mountdoctor $$(cat testdata/cases/$(CASE)/ask.txt)" -- \
		$(BIN)/kubectl-mountdoctor $$(cat testdata/cases/$(CASE)/ask.txt) --from testdata/cases/$(CASE) --color always

screenshots: build ## the HTML report in a real browser: fits a phone, dark, prints (chromium; UPDATE=1 for the README's)
	scripts/screenshots

licences: ## rewrite docs/licences.md, the licences of what is linked
	$(GO) run ./scripts/licences

longhorn-schemas: ## rewrite the fields of Longhorn's releases: make longhorn-schemas CRDS='longhorn-v1.13.0.yaml …'
	$(GO) run ./scripts/longhornfields $(CRDS)

clean: ## remove what was built
	rm -rf $(BIN) dist coverage.out
