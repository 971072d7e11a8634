# Each target is one step of .ci/run, which runs them all.
#
#   make            format, vet, lint, build and test: before you commit
#   make ci         everything, from a clean clone
#   make release    the archives of a release, in dist
#   make figures    refresh the table of figures in CONTRIBUTING.md

# Pinned so that a new release of the linter cannot fail an old commit.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# A number of inputs rather than a time: a fuzzing worker that is busy when its
# time is up is reported as a failure.
FUZZTIME ?= 500x
# Some packages start hundreds of processes, which takes long on a busy machine.
RACETIMEOUT ?= 25m
OUT ?= /tmp/strategylab-readme
CRASHLOG ?= /tmp/strategylab-crash-tests
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
DIR ?= dist/programs
# A module of its own.
PARQUET = cmd/strategylab-parquet

.PHONY: default ci fmt vet lint tidy generate clean-tree build platforms programs release try-release try-image readme fuzz race whole test try-tests pictures crash-tests cluster-tests tune-tests statistics figures calibration compare

default: fmt vet lint build test

ci:
	.ci/run

# Fails and lists the files that gofmt would change.
fmt:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change these files; run gofmt -w on them:"; echo "$$unformatted"; exit 1; fi

vet:
	go vet ./...
	go -C $(PARQUET) vet ./...

lint:
	go run $(STATICCHECK) ./...
	go -C $(PARQUET) run $(STATICCHECK) ./...

tidy:
	go mod tidy
	go -C $(PARQUET) mod tidy

generate:
	go generate ./...

# Fails if tidy or generate left a change behind.
clean-tree: tidy generate
	@if [ -n "$$(git status --porcelain)" ]; then git status --short; git diff; exit 1; fi

build:
	go build ./...
	go -C $(PARQUET) build -o /dev/null .

# Type-checks the source for the other platforms, which a release is built for.
platforms:
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go vet ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go vet ./...

# The programs of a release, in the folder DIR.
programs:
	mkdir -p $(DIR)
	CGO_ENABLED=0 go build -buildvcs=auto -trimpath -ldflags "-s -w" -o $(DIR)/ ./cmd/...
	CGO_ENABLED=0 go -C $(PARQUET) build -buildvcs=auto -trimpath -ldflags "-s -w" -o $(abspath $(DIR))/ .

# The archives of a release, with checksums and SBOM, in dist. VERSION names it if no tag does.
release:
	.ci/release $(PLATFORMS)

# The first command in the archive for linux/amd64, on a machine without Go.
try-release:
	.ci/try-release

# The image of Dockerfile, without a container engine.
try-image:
	.ci/try-image

# The first command of the README, with the seed that it shows, and its details:
# they print what the README and docs/reading-results.md show, digest included.
readme:
	rm -rf $(OUT)
	mkdir -p $(OUT)
	go run ./cmd/strategylab experiment --runs 1000 --out $(OUT)/first --seed $$(sed -n 's/.* --seed \([0-9]*\)$$/\1/p' README.md) > $(OUT)/table
	cat $(OUT)/table
	go run ./cmd/strategylab analyze $(OUT)/first --details >> $(OUT)/table
	@grep -hE '^ ?[0-9]+ |^echo |^sorted by |^1,000 |^--details|^Significant|^digest' README.md docs/reading-results.md | while IFS= read -r line; do \
	  grep -qxF -- "$$line" $(OUT)/table || { echo "the documentation shows a line that the command does not print: $$line"; exit 1; }; \
	done
	rm -rf $(OUT)

fuzz:
	@git grep '^func Fuzz' -- '*_test.go' | sed 's|/[^/]*_test.go:func \(Fuzz[A-Za-z0-9_]*\).*| \1|' | xargs -P 2 -n 2 sh -c \
	  'go test -vet=off -run "^$$" -fuzz "^$$1\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1 "./$$0"'

# The packages that start goroutines or guard what goroutines share, or whose tests do, under
# the race detector. What repeats one thing over and over is a sample there, as in a plain run:
# its interleavings are the same. Many tests wait, so three packages share two processors.
# By default each of the thousands of processes that they start sleeps for a second at its end.
race:
	GORACE=atexit_sleep_ms=10 CGO_ENABLED=1 go test -race -vet=off -p 3 -timeout $(RACETIMEOUT) \
	  $$(git grep -lE '^\s*go (func|[a-zA-Z.]+)\(|\.Go\(|sync\.(RW)?Mutex|atomic\.' -- '*.go' ':!.ci' ':!*/testdata/*' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# The packages with tests of which a plain run takes a sample or which it skips, with nothing
# left out. Whole packages: which tests ask, perhaps by a helper, no pattern finds reliably.
whole:
	WHOLE_TESTS=1 go test -vet=off -p 3 -timeout $(RACETIMEOUT) \
	  $$(git grep -lE 'WHOLE_TESTS|attest\.Repetitions\(|\bStart\(t\)' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
	go -C $(PARQUET) test -vet=off ./...

# The tests of a plain run as an ordinary user with Go alone.
try-tests:
	.ci/try-tests

test:
	go test ./...
	go -C $(PARQUET) test ./...

# Takes the pictures of the documentation again. It needs Chromium.
pictures:
	WHOLE_TESTS=1 PICTURES=$(CURDIR)/docs/images go test -count 1 ./cmd/strategylab -run '(League|Studio|RunningExperiment)InChromium$$'

# Ends the program at every place where it can be ended, and damages every file that it
# leaves, and prints how many cases there were. A plain test run takes a sample.
crash-tests:
	@WHOLE_TESTS=1 LONG_TESTS=1 go test -count 1 -timeout $(RACETIMEOUT) -v -run '^TestCrash' ./host/journal ./host/results ./host/manager ./host/referee ./host/player ./cmd/strategylab > $(CRASHLOG); failed=$$?; \
	grep -E 'crash: |^ *--- FAIL|^FAIL' $(CRASHLOG) | sed 's/^ *[a-z_]*\.go:[0-9]*: //'; \
	[ $$failed = 0 ] || { echo "$(CRASHLOG) has the rest"; exit 1; }

# Kills workers, brokers and coordinators of a cluster over and over, with 1, 2 and 7 workers,
# and has a client with the token do what it can: some minutes.
cluster-tests:
	go test -count 5 -timeout 30m -run '^Test(Adversary|FullStore|LiarsAlike|CaughtLie|AbandonedRun|ReplacedPlan)' ./experiments/cluster
	LONG_TESTS=1 go test -count 1 -timeout 1h -v -run '^Test(Cluster|CrashOfACluster)' ./cmd/strategylab

# Tunes a hundred times what has a known optimum and what has none, and shipped scripts
# against random search: a quarter of an hour.
tune-tests:
	LONG_TESTS=1 go test -count 1 -timeout 1h -v ./analysis/tune
	LONG_TESTS=1 go test -count 1 -timeout 1h -v -run Tune ./cmd/strategylab/internal/runs

# Repeats the simulations of what the statistics promise, and of honest leagues that are audited,
# hundreds of times: some minutes. A plain run repeats them as often as shows a gross fault.
statistics:
	LONG_TESTS=1 go test -count 1 -timeout 1h $$(go list ./analysis/... | grep -v /tune) ./cmd/strategylab/internal/leagues

# Refreshes the table of figures in CONTRIBUTING.md.
figures:
	go run ./docs/figures -write CONTRIBUTING.md

# Computes the tables of docs/calibration*.md again: half an hour of one processor. The tests
# compute a column.
calibration:
	go test ./analysis/calibration -run 'TestPages$$' -timeout 2h -v -update

# Measures this checkout against another commit and prints ratios; with TESTS=1 the tests
# too, which takes many minutes.
compare:
	go run ./.ci/compare -base $(BASE) $(if $(TESTS),-tests)
