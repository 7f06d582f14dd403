# Anteroom's build: GNU make, g++ 12, Debian 12. `make help` explains the targets.
#
# Sources are found by wildcard: a new .cc in a folder below needs no change here. Objects go to $(BUILD)/obj, archives
# to $(BUILD)/lib, programs to $(BUILD)/bin, where BUILD is build/ itself, or with SANITIZE= build/asan, build/tsan,
# build/fuzz.
# Nothing here may fail while it is only read: on a fresh machine there is neither a compiler nor pkg-config.

# help: make              programs into build/bin/, libraries into build/lib/; names the packages that are missing
# help: make deps         installs the Debian packages for building and testing (as root, or through sudo)
# help: make run          all of the above, then a daemon with a small crowd, to see a line move
# help: make test         unit tests (also under ASan and UBSan, those of what has threads under TSan too), behaviour
# help:                   scripts, end to end; ends with `N passed, N failed`
# help: make sim          a simulated daemon that crashes, with faults drawn from a seed: SEED= STEPS= SECONDS= SEEDS=
# help: make sim-canaries plants bugs, one after another, and sees that the simulation finds each: CANARY= for one
# help: make soak         a thousand kills under load, then a long simulation, then fuzzing: MINUTES=60
# help: make fuzz         libFuzzer on every target of tests/fuzz, SECONDS= each (60), two at a time or JOBS=
# help: make coverage     the share of branches of protocol, engine and storage that unit tests and scripts take
# help: make check        formatting, clang-tidy, include directions, bans in the engine, sizes
# help: make bench        every benchmark in a small size
# help: make bench-engine the engine with a million and ten million waiting; ends with one line of JSON
# help: make bench-redis  the same load against the daemon and against Redis, side by side; ends with one line of JSON
# help: make install      programs, libraries, headers, pkg-config files, licence: PREFIX=/usr/local DESTDIR=
# help: make format       puts every source into the project's format
# help: make clean        removes build/
# help:
# help: Any program or test alone, and the sanitizer builds:
# help:   make build/bin/unit_tests && build/bin/unit_tests --test-case='*wheel*'
# help:   make SANITIZE=address build/asan/bin/unit_tests
# help:   make SANITIZE=thread build/tsan/bin/thread_tests
# help:   make SANITIZE=fuzz build/fuzz/bin/fuzzer && build/fuzz/bin/fuzzer engine FILE    repeats an input
# help:   ANTEROOM_SEED=7 build/bin/unit_tests        repeats a random run
# help: Variables: SANITIZE=address|thread|fuzz, JOBS=2 (default: all cores), CXXFLAGS='-O0 -g', PREFIX, DESTDIR
# help:   make install PREFIX=/usr DESTDIR=/tmp/image
# help:   make compile_commands.json                  for editors

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=

# Parallel by default; `make -j1` still wins.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(JOBS)
endif
ifneq (,$(filter clean,$(MAKECMDGOALS)))
.NOTPARALLEL:
endif

# --- configuration ---

SANITIZE ?=
ifeq ($(SANITIZE),)
BUILD := build
OPTIMISE := -O2
else ifeq ($(SANITIZE),address)
BUILD := build/asan
OPTIMISE := -O1
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
# Can be planted in its simulator, never anywhere else: `make test` need not build it once more for that.
SANITIZE_FLAGS += -DANTEROOM_CANARIES
else ifeq ($(SANITIZE),thread)
BUILD := build/tsan
OPTIMISE := -O1
SANITIZE_FLAGS := -fsanitize=thread -fno-omit-frame-pointer
else ifeq ($(SANITIZE),fuzz)
BUILD := build/fuzz
OPTIMISE := -O1
SANITIZE_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# The names of g++ 12 in Debian's Abseil: later versions of clang spell those of some templates otherwise.
SANITIZE_FLAGS += -fclang-abi-compat=17
# The macro that fuzzed programs by convention look at (LLVM's documentation of libFuzzer): server/engine/slab.h does.
SANITIZE_FLAGS += -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
# What AddressSanitizer does not see: a view cut beyond its end, an empty optional read.
SANITIZE_FLAGS += -D_GLIBCXX_ASSERTIONS
else ifeq ($(SANITIZE),coverage)
BUILD := build/coverage
OPTIMISE := -O1
# By clang, which counts the branches that the source has: those that g++ adds, for temporaries and exceptions, are as many.
SANITIZE_FLAGS := -fprofile-instr-generate -fcoverage-mapping -fclang-abi-compat=17 -Wno-error -DANTEROOM_SAMPLED
else
$(error SANITIZE is empty, address, thread, coverage or fuzz, not '$(SANITIZE)')
endif
ifneq (,$(filter address thread fuzz,$(SANITIZE)))
SANITIZE_FLAGS += -DANTEROOM_DCHECKS
endif
# Bugs to be planted, for `make sim-canaries` alone: server/base/canary.h.
ifneq ($(CANARIES),)
BUILD := build/canaries
SANITIZE_FLAGS += -DANTEROOM_CANARIES
endif

# popcnt and SSE4.2, which every x86-64 processor since 2009 has.
ifeq ($(shell uname -m),x86_64)
ARCHITECTURE := -march=x86-64-v2
endif

# The fuzzer comes with clang; 14, which Debian 12 takes for granted, cannot read <ranges> of g++ 12.
CXX := $(if $(filter fuzz coverage,$(SANITIZE)),clang++-19,g++)
# Symbols and line tables; -g, with every variable, doubles the time of a build: make CXXFLAGS='-O0 -g'.
CXXFLAGS ?= $(OPTIMISE) -g1
CCACHE := $(shell command -v ccache 2>/dev/null)

# g++ 12 takes an empty std::optional for an uninitialised one (GCC bug 80635), hence the one warning less.
WARNINGS := -Wall -Wextra -Werror $(if $(filter g++,$(CXX)),-Wno-maybe-uninitialized)
ANTEROOM_CXXFLAGS = -std=c++20 $(WARNINGS) $(ARCHITECTURE) $(SANITIZE_FLAGS) -I. -pthread

# Abseil is linked statically, which starts a program in 2 ms instead of 5; the linker takes only what is used.
ABSL_PACKAGES := absl_base absl_btree absl_cleanup absl_flat_hash_map \
  absl_flat_hash_set absl_hash absl_inlined_vector absl_int128 absl_random_random absl_span absl_status absl_statusor \
  absl_str_format absl_strings absl_synchronization absl_time
# Asked of pkg-config once, when the first program is linked.
ABSL_LIBS = $(eval ABSL_LIBS := $$(patsubst -l%,-l:lib%.a,$$(filter -labsl_%,\
  $$(shell pkg-config --libs $(ABSL_PACKAGES)))))$(ABSL_LIBS)
# Only what speaks HTTP is linked with the latter two: of the programs that are installed, `anteroom` for its metrics.
# Nothing is linked for nlohmann-json, CLI11 and toml++ (libtomlplusplus-dev), which are headers alone.
LIBS = -Wl,--start-group $(ABSL_LIBS) -Wl,--end-group -luv -lxxhash -lcrypto -pthread \
  -Wl,--push-state,--as-needed -lprometheus-cpp-pull -lprometheus-cpp-core -Wl,--pop-state

# --- sources ---

sources = $(sort $(foreach folder,$1,$(wildcard $(folder)/*.cc)))
without_main = $(filter-out %/main.cc,$1)

# What includes cost is most of a build, and of clang-tidy. So where a whole folder is compiled with a sanitizer, and for
# clang-tidy, eight of its files are taken as if they were one, in a bundle that includes them: half the time of a
# build, a quarter of clang-tidy's. What two files of a folder name in unnamed namespaces has to differ for that. The
# plain build compiles each file alone, which shows that it includes what it needs.
BUNDLED := $(SANITIZE)$(CANARIES)
SPANS := 1-8 9-16 17-24 25-32 33-40 41-48 49-56 57-64 65-72 73-80 81-88 89-96
span = $(wordlist $(word 1,$(subst -, ,$1)),$(word 2,$(subst -, ,$1)),$2)
folders_of = $(sort $(patsubst %/,%,$(dir $1)))
in_folder = $(foreach source,$2,$(if $(filter $1/,$(dir $(source))),$(source)))
bundled_sources = $(call without_main,$(call sources,$1))
# The bundles of a folder, by name: protocol/bundle-1-8.cc; and what such a one includes.
bundles = $(foreach numbers,$(SPANS),$(if $(call span,$(numbers),$(call bundled_sources,$1)),$1/bundle-$(numbers).cc))
in_bundle = $(call span,$(patsubst bundle-%.cc,%,$(notdir $1)),$(call bundled_sources,$(patsubst %/,%,$(dir $1))))

# Of the two CHECKs in a unit test, which are one macro, ours is the later one (server/base/check.h), whichever file of a
# bundle is the first.
HASH := \#
bundle_lines = $(if $(filter tests/unit/%,$1),'$(HASH)include <doctest/doctest.h>') \
  $(foreach source,$(call in_bundle,$1),'$(HASH)include "$(source)"')

# The objects of a list of sources: one each, or bundles for the folders that are in it as a whole.
alone = $(patsubst %.cc,$(BUILD)/obj/%.o,$1)
folder_objects = $(call alone,$(if $(filter-out $2,$(call bundled_sources,$1)),$2,$(call bundles,$1) $(filter %/main.cc,$2)))
bundled_objects = $(foreach folder,$(call folders_of,$1),$(call folder_objects,$(folder),$(call in_folder,$(folder),$1)))
objects = $(call $(if $(BUNDLED),bundled_objects,alone),$1)

PROTOCOL_SOURCES := $(call sources,protocol)
SERVER_PARTS := base engine auth storage net
CLIENT_SOURCES := $(call sources,client)
TESTING_SOURCES := $(call sources,client/testing client/testing/internal)
APP_SOURCES := $(call sources,server/app)
# Every folder of tools is one library but for its main.cc; the CLI's main.cc is the program `anteroom`.
TOOL_SOURCES := $(call sources,tools tools/*)
TEST_SUPPORT_SOURCES := $(call sources,tests/support)
UNIT_SOURCES := $(call sources,tests/unit)
SCRIPT_SOURCES := $(call sources,tests/scripts)
# Those which take a sample of their cases where a sanitizer makes them slow.
LONG_TEST_SOURCES := tests/unit/main.cc $(filter tests/unit/storage_% tests/unit/engine_snapshot_% tests/unit/engine_model_%,$(UNIT_SOURCES))
# The unit tests of what has threads, and what they need beyond archives: few enough to be built once more, under TSan.
# Those of credentials read what their server has noted without a lock, once a call is answered.
THREAD_SOURCES := tests/unit/main.cc tests/unit/app_group_commit_test.cc \
  $(filter-out tests/unit/client_credentials_test.cc,$(filter tests/unit/client_%,$(UNIT_SOURCES))) \
  server/app/group_commit.cc tests/support/fake_server.cc tests/support/memory_files.cc
E2E_SOURCES := $(call sources,tests/e2e)
BENCH_SOURCES := $(filter %_bench.cc,$(call sources,bench))
BENCH_SUPPORT_SOURCES := $(filter-out %_bench.cc,$(call sources,bench))
LOADGEN_SOURCES := $(call sources,bench/loadgen)
EXAMPLE_SOURCES := $(call sources,client/examples)
SIM_SOURCES := $(call sources,tests/sim)
FUZZ_SOURCES := $(call sources,tests/fuzz)
# What they need beyond archives, named so that little is built for them.
FUZZ_PARTS := tests/support/memory_files.cc tests/support/wire_examples.cc \
  $(addprefix tools/rehearse/,log_line.cc moment.cc count_row.cc)
# What else of the daemon and of the tests a simulation holds: the rest needs sockets.
SIM_PARTS := server/app/engine_clock.cc server/app/group_commit.cc server/net/outbox.cc tests/support/memory_files.cc

TEST_SOURCES := $(TEST_SUPPORT_SOURCES) $(UNIT_SOURCES) $(SCRIPT_SOURCES) $(E2E_SOURCES) $(BENCH_SOURCES) \
  $(BENCH_SUPPORT_SOURCES) $(SIM_SOURCES) $(FUZZ_SOURCES)
ALL_SOURCES := $(PROTOCOL_SOURCES) $(call sources,$(addprefix server/,$(SERVER_PARTS))) $(APP_SOURCES) \
  $(CLIENT_SOURCES) $(TESTING_SOURCES) $(TOOL_SOURCES) $(TEST_SOURCES) $(LOADGEN_SOURCES) \
  $(EXAMPLE_SOURCES)

# --- what can be built ---

LIBRARIES := $(BUILD)/lib/libanteroom_protocol.a $(BUILD)/lib/libanteroom.a $(BUILD)/lib/libanteroom_testing.a
PROGRAM_NAMES := anteroomd anteroom
PROGRAMS := $(addprefix $(BUILD)/bin/,$(PROGRAM_NAMES))
E2E_PROGRAMS := $(patsubst tests/e2e/%.cc,$(BUILD)/bin/%,$(E2E_SOURCES))
BENCHES := $(patsubst bench/%.cc,$(BUILD)/bin/%,$(BENCH_SOURCES))
UNIT_TESTS := $(BUILD)/bin/unit_tests
SCRIPT_TESTS := $(BUILD)/bin/script_tests
LOADGEN := $(BUILD)/bin/loadgen
SIM := $(BUILD)/bin/sim
EXAMPLES := $(patsubst client/examples/%.cc,$(BUILD)/bin/example_%,$(EXAMPLE_SOURCES))

.PHONY: all deps run test sim sim-canaries soak fuzz coverage check bench bench-engine bench-redis
.PHONY: install format tidy clean help
.PHONY: test-programs unit-programs bench-programs print-sources compile_commands.json FORCE

all: $(PROGRAMS) $(LIBRARIES)
unit-programs: $(UNIT_TESTS) $(SCRIPT_TESTS)
bench-programs: $(BENCHES) $(LOADGEN)
test-programs: all $(BUILD)/bin/long_tests bench-programs $(E2E_PROGRAMS) $(EXAMPLES) $(SIM)

# --- compiling ---

# A file that holds the text $2 and is touched only when that changes: flags and lists of objects as prerequisites.
define remember
@mkdir -p $(@D)
@cmp --silent $@ - <<<'$1' || cat >$@ <<<'$1'
endef

$(BUILD)/flags: FORCE
	$(call remember,$(CXX) $(ANTEROOM_CXXFLAGS) $(CXXFLAGS))

# Which packages there are is asked once a build folder.
.PRECIOUS: $(BUILD)/packages-%
$(BUILD)/packages-%: tools/install_deps.sh
	@tools/install_deps.sh --missing $*
	@mkdir -p $(@D) && touch $@

# Outputs appear whole, by a rename: two makes in one folder, or a reader, never see half of one.
$(BUILD)/obj/%.o: %.cc $(BUILD)/flags | $(BUILD)/packages-build
	@mkdir -p $(@D)
	@echo "  compile  $<"
	@$(COMPILE)

COMPILE = $(CCACHE) $(CXX) $(ANTEROOM_CXXFLAGS) $(CXXFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv -f $@.$$$$ $@

.PRECIOUS: $(BUILD)/bundles/%.cc
$(BUILD)/bundles/%.cc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call bundle_lines,$*.cc) | cmp --silent $@ - || printf '%s\n' $(call bundle_lines,$*.cc) >$@

$(BUILD)/obj/%.o: $(BUILD)/bundles/%.cc $(BUILD)/flags | $(BUILD)/packages-build
	@mkdir -p $(@D)
	@echo "  compile  $(*D): $(notdir $(call in_bundle,$*.cc))"
	@$(COMPILE)

$(sort $(call alone,$(TEST_SOURCES) $(LOADGEN_SOURCES)) $(call objects,$(TEST_SOURCES) $(LOADGEN_SOURCES))): \
  | $(BUILD)/packages-test

# What only drives the tests builds in two thirds of the time this way, and takes no longer to run.
$(call alone,$(TEST_SUPPORT_SOURCES) $(UNIT_SOURCES) $(SCRIPT_SOURCES) $(E2E_SOURCES)): private OPTIMISE := -O1

-include $(patsubst %.o,%.d,$(sort $(call alone,$(ALL_SOURCES)) $(call objects,$(ALL_SOURCES))))

# --- archives ---

# $(call archive,NAME,SOURCES): build/lib/NAME.a, made anew when an object or the list of objects changes.
define archive
$(BUILD)/lists/$1: FORCE
	$$(call remember,$(call objects,$2))
$(BUILD)/lib/$1.a: $(call objects,$2) $(BUILD)/lists/$1
	@mkdir -p $$(@D)
	@echo "  archive  $$@"
	@$$(AR) rcs $$@.$$$$$$$$ $(call objects,$2) && mv -f $$@.$$$$$$$$ $$@
endef

$(eval $(call archive,libanteroom_protocol,$(PROTOCOL_SOURCES)))
$(foreach part,$(SERVER_PARTS),$(eval $(call archive,libserver_$(part),$(call sources,server/$(part)))))
$(eval $(call archive,libserver_app,$(call without_main,$(APP_SOURCES))))
$(eval $(call archive,libtools,$(call without_main,$(TOOL_SOURCES))))
$(eval $(call archive,libtest_support,$(TEST_SUPPORT_SOURCES)))
$(eval $(call archive,libbench_support,$(BENCH_SUPPORT_SOURCES)))
# The two that are installed are complete in themselves.
$(eval $(call archive,libanteroom,$(CLIENT_SOURCES) $(PROTOCOL_SOURCES)))
$(eval $(call archive,libanteroom_testing,$(TESTING_SOURCES) $(call sources,server/base server/engine server/auth)))

archives = $(patsubst %,$(BUILD)/lib/%.a,$1)
SERVER_ARCHIVES := $(call archives,$(patsubst %,libserver_%,$(SERVER_PARTS)) libanteroom_protocol)
TOOL_ARCHIVES := $(call archives,libtools libanteroom libserver_storage libserver_engine libserver_auth libserver_base)
EVERY_ARCHIVE := $(call archives,libtest_support libserver_app libtools libanteroom libanteroom_testing) \
  $(SERVER_ARCHIVES)

# --- programs ---

# $(call program,NAME,SOURCES,ARCHIVES,MORE LIBRARIES)
define program
$(BUILD)/lists/$1: FORCE
	$$(call remember,$(call objects,$2))
$(BUILD)/bin/$1: $(call objects,$2) $3 $(BUILD)/lists/$1
	@mkdir -p $$(@D)
	@echo "  link     $$@"
	@$(CXX) $(SANITIZE_FLAGS) $$(LDFLAGS) -o $$@.$$$$$$$$ $(call objects,$2) \
	  -Wl,--start-group $3 -Wl,--end-group $4 $$(LIBS) && mv -f $$@.$$$$$$$$ $$@
endef

$(eval $(call program,anteroomd,server/app/main.cc,$(call archives,libserver_app) $(SERVER_ARCHIVES)))
$(eval $(call program,anteroom,tools/cli/main.cc,$(TOOL_ARCHIVES)))
$(eval $(call program,unit_tests,$(UNIT_SOURCES),$(EVERY_ARCHIVE)))
$(eval $(call program,script_tests,$(SCRIPT_SOURCES),$(EVERY_ARCHIVE)))
$(eval $(call program,long_tests,$(LONG_TEST_SOURCES),$(EVERY_ARCHIVE)))
$(eval $(call program,thread_tests,$(THREAD_SOURCES),$(call archives,libanteroom_testing libanteroom \
  libserver_storage)))
$(eval $(call program,sim,$(SIM_SOURCES) $(SIM_PARTS),$(call archives,$(patsubst %,libserver_%,storage engine base) \
  libanteroom_protocol)))
# Only clang links this one.
ifeq ($(SANITIZE),fuzz)
$(eval $(call program,fuzzer,$(FUZZ_SOURCES) $(FUZZ_PARTS),$(call archives,$(patsubst %,libserver_%,\
  auth storage engine base) libanteroom_protocol),-fsanitize=fuzzer))
endif
$(eval $(call program,loadgen,$(LOADGEN_SOURCES),$(call archives,libanteroom libserver_base),-lhiredis))
$(foreach source,$(EXAMPLE_SOURCES),$(eval \
  $(call program,example_$(basename $(notdir $(source))),$(source),$(call archives,libanteroom))))
$(foreach source,$(E2E_SOURCES),$(eval \
  $(call program,$(basename $(notdir $(source))),$(source),$(EVERY_ARCHIVE))))
# A bench without a main of its own gets Google Benchmark's.
$(foreach source,$(BENCH_SOURCES),$(eval \
  $(call program,$(basename $(notdir $(source))),$(source),$(call archives,libbench_support) $(EVERY_ARCHIVE),\
  -lbenchmark_main -lbenchmark)))

# --- running, testing, measuring ---

# Programs that were just missing are found only by a make that starts after their installation, hence the second make.
again = $(MAKE) --no-print-directory

deps:
	@tools/install_deps.sh build test

run: deps
	+@$(again) all
	@tools/run.sh

test: deps
	@tests/run.sh

SIM_FLAGS = $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS)) $(if $(SEEDS),--seeds $(SEEDS)) \
  $(if $(SECONDS),--seconds $(SECONDS)) --jobs $(JOBS)

sim: deps
	+@$(again) $(SIM)
	@$(SIM) $(SIM_FLAGS)

sim-canaries: deps
	+@$(again) CANARIES=1 build/canaries/bin/sim
	@build/canaries/bin/sim $(if $(CANARY),--canary $(CANARY),--canaries) $(or $(strip $(SIM_FLAGS)),--seeds 800)

# Of unit tests and behaviour scripts, and of the three folders whose every branch decides something.
COVERED := protocol server/engine server/storage
coverage: deps
	@tools/install_deps.sh coverage
	+@$(again) SANITIZE=coverage unit-programs
	@tests/coverage.sh $(COVERED)

soak: deps
	+@$(again) $(PROGRAMS) $(BUILD)/bin/kill_cycles_test $(SIM)
	@MINUTES=$(or $(MINUTES),60) tests/soak.sh

fuzz: deps
	@tools/install_deps.sh fuzz
	@tests/fuzz/run.sh $(or $(SECONDS),60)

check:
	@tools/install_deps.sh build test check
	@tools/checks/run.sh

# Each in a small size, one after the other.
bench: deps
	+@$(again) bench-programs
	@for bench in $(sort $(BENCHES)); do \
	  echo "== $$bench"; ANTEROOM_BENCH_TINY=1 $$bench --benchmark_min_time=0.05 || exit 1; done

bench-engine: deps
	+@$(again) $(BUILD)/bin/engine_bench >&2
	@$(BUILD)/bin/engine_bench

bench-redis: deps
	@tools/install_deps.sh redis
	+@$(again) all bench-programs >&2
	@bench/compare_redis.sh

# --- installing ---

HEADERS := $(foreach folder,protocol client client/testing,$(wildcard $(folder)/*.h))
LIBDIR = $(DESTDIR)$(PREFIX)/lib
# The Abseil packages that the library's headers and objects use.
LIBRARY_ABSL := absl_flat_hash_map absl_random_random absl_status absl_statusor absl_str_format absl_strings absl_time
FILL_IN = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@ABSL@|$(LIBRARY_ABSL)|'

install: all
	install -d $(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/anteroom
	install $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/lib/libanteroom.a $(BUILD)/lib/libanteroom_testing.a $(LIBDIR)
	for header in $(HEADERS); do \
	  install -D -m 644 $$header $(DESTDIR)$(PREFIX)/include/anteroom/$$header || exit 1; done
	for name in anteroom anteroom_testing; do \
	  $(FILL_IN) tools/pkgconfig/$$name.pc.in >$(LIBDIR)/pkgconfig/$$name.pc || exit 1; done
	install -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/anteroom/LICENSE

# --- care of the sources ---

format:
	@tools/install_deps.sh check
	clang-format-14 -i $$(tools/checks/sources.sh '*.cc' '*.h')

# One stamp for each bundle, so that only what changed, or whose headers changed, is looked at again. Where each file is
# a program, each has a stamp; any one file alone: make build/tidy/server/engine/desk.cc.ok
PROGRAM_FOLDERS := tests/e2e bench client/examples
TIDIED := $(filter %/main.cc $(addsuffix /%,$(PROGRAM_FOLDERS)),$(filter-out bench/loadgen/%,$(ALL_SOURCES)) bench/loadgen/main.cc) \
  $(foreach folder,$(filter-out $(PROGRAM_FOLDERS),$(call folders_of,$(ALL_SOURCES))),$(call bundles,$(folder)))
TIDY_STAMPS := $(patsubst %,build/tidy/%.ok,$(TIDIED))
TIDY_FLAGS := -std=c++20 -Wall -Wextra $(ARCHITECTURE) -I.

tidy: $(TIDY_STAMPS)

define TIDY
@mkdir -p $(@D)
@echo "  tidy     $(if $(findstring /bundle-,$*),$(*D): $(notdir $(call in_bundle,$*)),$*)"
@timeout 300 clang-tidy-14 --quiet $< -- $(TIDY_FLAGS) 2>$@.log || { cat $@.log; exit 1; }
@$(CXX) $(TIDY_FLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $< && touch $@
endef
build/tidy/%.ok: % .clang-tidy
	$(TIDY)
build/tidy/%.ok: build/bundles/% .clang-tidy
	$(TIDY)

ifneq (,$(filter tidy,$(MAKECMDGOALS)))
-include $(TIDY_STAMPS:.ok=.d)
endif

# For the checks: every source that some target builds.
print-sources:
	@printf '%s\n' $(ALL_SOURCES)

# For editors and clangd.
compile_commands.json:
	@{ echo '['; separator=; for source in $(ALL_SOURCES); do \
	  printf '%s{"directory":"%s","file":"%s","command":"$(CXX) $(ANTEROOM_CXXFLAGS) -c %s"}\n' \
	    "$$separator" "$(CURDIR)" $$source $$source; separator=,; done; echo ']'; } >$@

clean:
	rm -rf build compile_commands.json

help:
	@sed -n 's/^# *help: \{0,1\}//p' Makefile
