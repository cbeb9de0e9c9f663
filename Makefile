# make help lists the targets.

GO ?= go
REPO ?=
PROGRAMS ?= claude copilot pi codex gemini opencode qwen
# The race detector needs a C compiler. Without one the tests run without it, and say so.
CC_THERE := $(shell command -v $${CC:-cc} 2>/dev/null)
# It leaves out the database: that is translated C, and watching its every step would take more than half of the time.
RACE := $(if $(CC_THERE),-race '-gcflags=modernc.org/...=-d=checkptr=0 -race=false',)
# Without this, every program that was built with it waits for a second at its end.
export GORACE ?= atexit_sleep_ms=0
# It has nothing to find where there is only one thread: in the quiet packages, and in the simulated world.
# Their tests run without it in make test-all; make test-long runs them with it too.
QUIET := rules/printable rules/envfilter rules/gitconfig rules/action rules/conflict rules/diff rules/task rules/history rules/record rules/idempotency rules/signed rules/stats rules/document rules/yaml api api/remote rules/workflow rules/guarantee rules/harness rules/rejection rules/fencing rules/edition rules/decide rules/projection proof/replay proof/explore proof/graph rules/inbox rules/eventtext
SINGLE := 'TestSimulation|TestRun_breaks'
# The long stories of cmd/orange/testdata/long that show what no shorter test does.
STORIES := build_escalates-to-the-cto-and-to-a-person|classic_crashes|classic_review-fails-twice|default_review-fails-twice|phases_goes-back
# What asks the system itself: it is different on each. Building the rest for others would take minutes, for its database.
SYSTEM := ./internal/run/proc ./internal/app/doctor ./internal/store/mirror ./internal/work/worktree ./internal/run/tmux

.PHONY: help build fleet install need demo fleet-demo test test-all test-fleet test-stories test-harnesses test-forge test-long lint bench fleet-figures pictures fmt clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## build bin/orange and bin/orange-mcp
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/orange ./cmd/orange-mcp

fleet: ## build bin/orange-fleet, for a fleet with a server
	@mkdir -p bin
	cd fleet && CGO_ENABLED=0 $(GO) build -trimpath -o ../bin/ ./cmd/orange-fleet

install: need ## install orange where go install puts programs
	CGO_ENABLED=0 $(GO) install -trimpath ./cmd/orange ./cmd/orange-mcp
	@dir=$$($(GO) env GOBIN); dir=$${dir:-$$($(GO) env GOPATH)/bin}; \
	echo "installed $$dir/orange and $$dir/orange-mcp"; \
	case ":$$PATH:" in *":$$dir:"*) ;; *) echo "add it to your PATH: export PATH=\"$$dir:\$$PATH\"";; esac

need: # the other programs that Orange needs
	@tools/need git tmux
	@tools/need ssh-keygen || echo "ssh-keygen cannot be installed here: the tests of signed snapshots are skipped"

demo: need build ## show three tasks from created to merged, on a temporary repository or on a clone of REPO=...
	@demo/run "$(CURDIR)/bin/orange" "$(REPO)"

fleet-demo: need build fleet ## show six tasks on three hosts with a server, one of which is killed
	@tools/need ssh-keygen
	@temporal=$$(tools/temporal) && demo/fleet "$(CURDIR)/bin" "$$temporal"

test: need ## run the tests that a change needs most, in a minute or two
	$(GO) test -short -timeout 10m -shuffle=on ./...

test-all: ## run all tests, with the race detector where it can find something
	@tools/need git tmux
	@tools/need ssh-keygen || echo "ssh-keygen cannot be installed here: the tests of signed snapshots are skipped"
	@tools/need gh || echo "gh cannot be installed here: its stories are skipped"
	@tools/need bwrap || echo "bubblewrap cannot be installed here: the story of a confined agent is skipped"
	@tools/need sshd || echo "no sshd here: what logs in to it is skipped"
ifeq ($(RACE),)
	@echo "no C compiler here: the race detector stays off"
	$(GO) test -timeout 20m -shuffle=on ./...
else
	$(GO) test -timeout 20m $(RACE) -shuffle=on -skip $(SINGLE) $$($(GO) list ./... | grep -vE '/internal/($(shell echo $(QUIET) | tr ' ' '|'))$$')
	$(GO) test -timeout 20m -shuffle=on $(QUIET:%=./internal/%)
	$(GO) test -timeout 20m -shuffle=on -run $(SINGLE) ./internal/engine ./internal/proof/simulate
endif

test-stories: need ## run the long stories that alone show how a task escalates, crashes and goes back
	ORANGE_TEST_LONG=1 $(GO) test -timeout 15m -run 'TestLongStories/^($(STORIES))$$' ./cmd/orange

test-fleet: ## run all tests of the module fleet/, with a server, ten thousand schedules of a custody, and storms
	temporal=$$(tools/temporal) || echo "no server can be had: the tests that need one are skipped"; \
	export ORANGE_FLEET_TEMPORAL=$$temporal ORANGE_TEST_LONG=1; cd fleet && \
	$(GO) test -timeout 60m -shuffle=on -skip 'TestStorm|TestSchedules|TestModel' ./... && \
	$(GO) test -timeout 60m -v -run 'TestSchedules|TestModel' ./flow ./custody && \
	$(GO) test -timeout 90m -v -run TestStorm ./storm

test-harnesses: need ## play the stories with real agent programs, which npm installs; PROGRAMS=... names some of them
	@GO="$(GO)" tools/harnesses/run $(PROGRAMS)

test-forge: need ## play the stories with the real gh, Debian's and a newer one, against a GitHub on loopback
	@GO="$(GO)" tools/forge/run

test-long: need ## run the long tests too
	ORANGE_TEST_LONG=1 $(GO) test $(RACE) -shuffle=on -timeout 120m ./...
	$(if $(RACE),ORANGE_TEST_LONG=1 $(GO) test -run $(SINGLE) -timeout 60m ./internal/engine ./internal/proof/simulate)

bin/golangci-lint: tools/go.mod tools/go.sum
	@mkdir -p bin
	cd tools && $(GO) build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

lint: bin/golangci-lint ## run the linters
	$(GO) vet ./...
	bin/golangci-lint run ./...
	for os in darwin freebsd openbsd netbsd; do GOOS=$$os CGO_ENABLED=0 $(GO) build $(SYSTEM) || exit 1; done
	cd bench && $(GO) vet ./...
	cd fleet && $(GO) vet ./... && ../bin/golangci-lint run ./...
	@git log -20 --no-merges --format=%s 2>/dev/null | awk 'length > 72 {print "longer than 72 characters: " $$0; bad = 1} END {exit bad}'

bench: ## measure against floors and peers, and write bench/figures.txt
	@tools/need git tmux sqlite3 strace
	cd bench && $(GO) run . -write figures.txt

fleet-figures: ## measure a fleet with a server on PostgreSQL, and write fleet/postgres/figures.txt
	@tools/need git tmux
	@tools/temporal server >/dev/null && tools/temporal sql >/dev/null
	cd fleet && ORANGE_FLEET_FIGURES=1 $(GO) test -v -count=1 -timeout 60m -run TestFigures ./postgres -args -write figures.txt

pictures: need build ## draw the pictures of the dashboard again
	@mkdir -p docs/pictures
	$(GO) run ./demo/pictures "$(CURDIR)/bin/orange" "$(CURDIR)/demo/agent" docs/pictures

fmt: ## format the code
	gofmt -w bench cmd docs fleet internal workflows harnesses skills

clean: ## remove what was built
	rm -rf bin
