# liblinattn. `make` builds the library and the examples, `make demo` runs the main job, `make check` runs the tests;
# `make help` lists the rest.
#
# Variables: CC, CXX, CFLAGS, EXTRA_CFLAGS (added to CFLAGS), WERROR=-Werror, LDFLAGS, BUILD (where everything is built), V=1 (show
# the commands); PREFIX, DESTDIR, LIBDIR, INCLUDEDIR (install); THREADS, QUICK=1, STAGES, OUT (reproduce); LINATTN_VECTORS (check-vectors).

BUILD      ?= build
CFLAGS     ?= -O3 -g
PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
THREADS    ?= $(shell nproc 2>/dev/null || echo 1)
OUT        ?= out
ifeq ($(origin CXX),default)
CXX := $(or $(patsubst %-gcc,%-g++,$(filter %-gcc,$(CC))),$(if $(findstring clang,$(CC)),clang++,g++))
endif

# ---- Setting the machine up ----------------------------------------------------------------------------------------------------
# Goals that need more than a compiler first get it from tools/deps.sh. This file asks the compiler questions while it is read, and
# there may be none yet: so one rule stands for all goals, sets up, and starts make anew, on all processors unless -j says otherwise.
# Only then is the rest of the file read.
SETUP := $(if $(LINATTN_READY),,$(filter demo reproduce docs coverage check check-% bench-peer bench-plots,$(MAKECMDGOALS)))
ifneq ($(SETUP),)

.PHONY: setup $(MAKECMDGOALS)
$(MAKECMDGOALS): setup
	@:
setup:
	@CC='$(CC)' CXX='$(CXX)' tools/deps.sh $(SETUP)
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(THREADS)) LINATTN_READY=1 $(MAKECMDGOALS)

else

# ---- What is built -------------------------------------------------------------------------------------------------------------
# The version lives in one header. The soname's number is the major version.
NUMBERS   := $(shell sed -n 's/^ *LINATTN_VERSION_[A-Z]* = \([0-9][0-9]*\),$$/\1/p' include/linattn/version.h)
VERSION   := $(word 1,$(NUMBERS)).$(word 2,$(NUMBERS)).$(word 3,$(NUMBERS))
SOVERSION := $(word 1,$(NUMBERS))
SONAME    := liblinattn.so.$(SOVERSION)

STATIC       := $(BUILD)/lib/liblinattn.a
SHARED       := $(BUILD)/lib/liblinattn.so.$(VERSION)
SHARED_LINKS := $(BUILD)/lib/$(SONAME) $(BUILD)/lib/liblinattn.so
LAPACK       := -llapacke -lblas
LIBS         := -lm -pthread

PUBLIC_HEADERS := $(sort $(wildcard include/linattn/*.h))
LIB_SOURCES    := $(sort $(wildcard lib/*/*.c))
KERNEL_SOURCES := $(filter %.kernel.c,$(LIB_SOURCES))
EXAMPLE_COMMON := $(sort $(wildcard examples/common/*.c))
EXAMPLES       := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard examples/*.c)))
# examples/x.cpp becomes x_cpp, where there is a C++ compiler with its library; nothing else wants one.
HAVE_CXX       := $(shell $(CXX) -include memory -E -x c++ /dev/null >/dev/null 2>&1 && echo yes)
CXX_EXAMPLES   := $(if $(HAVE_CXX),$(patsubst %.cpp,$(BUILD)/%_cpp,$(sort $(wildcard examples/*.cpp))))
TEST_SOURCES   := $(sort $(wildcard tests/test_*.c))
# Tests in which allocations fail: an allocator that can be told to, linked in front of the archive's; not where the archive is one
# object, optimised as a whole.
MEMORY_TESTS   := $(if $(TEST_SOURCES),$(shell grep -l LINATTN_FAIL_ALLOCATION $(TEST_SOURCES)))
LTO            := $(findstring -flto,$(CFLAGS) $(EXTRA_CFLAGS))
TEST_SOURCES   := $(filter-out $(if $(LTO),$(MEMORY_TESTS)),$(TEST_SOURCES))
TEST_COMMON    := $(sort $(wildcard tests/support/*.c tests/reference/*.c))
TESTS          := $(TEST_SOURCES:%.c=$(BUILD)/%)
FUZZ_TARGETS   := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

# ---- Flags ---------------------------------------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
# No build path in the binaries, whose bytes then do not depend on where the tree lies.
REPRODUCIBLE := -ffile-prefix-map='$(CURDIR)'=.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) $(REPRODUCIBLE) -fPIC -fvisibility=hidden -fno-math-errno -pthread \
             $(CPPFLAGS) $(CFLAGS) $(EXTRA_CFLAGS)
# Examples see what an installed program sees.
INTERNAL = $(if $(filter examples/%,$<),-Iexamples,$(if $(filter python/%,$<),,-Ilib -Itests))
# Fused multiply-add only in lib/kernels: everything else, samples above all, gives the same bits on every machine.
CONTRACT = -ffp-contract=$(if $(filter lib/kernels/%.kernel.c,$<),fast,off)

# Threads outlive dlclose, so the library stays loaded. Sanitizers leave symbols undefined on purpose.
SHARED_FLAGS = -shared -Wl,-soname,$(SONAME) -Wl,--version-script=lib/linattn.map -Wl,-z,nodelete \
               $(if $(findstring -fsanitize,$(ALL_CFLAGS)),,-Wl,-z,defs)
LINK_FLAGS = $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)
CHECK_LIBS = $(shell pkg-config --libs check)

# Each *.kernel.c is compiled once for each of these (lib/kernels/isa.h). The compiler says what it compiles for.
TARGET := $(shell $(CC) $(CFLAGS) $(EXTRA_CFLAGS) -dM -E -x c /dev/null 2>/dev/null | grep -Eo ' __(STDC|x86_64)__ ')
# Without a compiler, every object waits for a goal that says so.
NO_COMPILER := $(if $(filter __STDC__,$(TARGET)),,no-compiler)
ISAS   := baseline $(if $(filter __x86_64__,$(TARGET)),avx2 avx512)
ISA_FLAGS_baseline := -DLINATTN__ISA=baseline -DLINATTN__LANES=2
ISA_FLAGS_avx2     := -DLINATTN__ISA=avx2 -DLINATTN__LANES=4 -mavx2 -mfma
ISA_FLAGS_avx512   := -DLINATTN__ISA=avx512 -DLINATTN__LANES=8 -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma \
                      -mprefer-vector-width=512
# Kernels unroll into large functions: following each variable for the debugger would take most of the compiler's time.
KERNEL_FLAGS := -fno-var-tracking

# Objects live in a folder named after everything that shapes them, so flags may change back and forth without a rebuild; what is
# made of objects depends on $(BUILD)/flags, which changes when the flags or the list of sources do.
quote   = '$(subst ','\'',$(1))'
FLAGS  := $(strip $(CC) $(shell $(CC) --version 2>/dev/null | head -n 1) $(ALL_CFLAGS) $(KERNEL_FLAGS) \
                  $(foreach isa,$(ISAS),$(ISA_FLAGS_$(isa))))
OBJ    := $(BUILD)/obj/$(shell printf '%s' $(call quote,$(FLAGS)) | cksum | cut -d ' ' -f 1)
OBJECTS := $(patsubst %.c,$(OBJ)/%.o,$(filter-out %.kernel.c,$(LIB_SOURCES))) \
           $(foreach isa,$(ISAS),$(KERNEL_SOURCES:%.kernel.c=$(OBJ)/%.$(isa).o))

# ---- Library, examples, tests --------------------------------------------------------------------------------------------------
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-4s %s\n' $(1) $@ >&2)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all lib examples tests FORCE no-compiler
all: lib examples ## the library and the examples (the default)
lib: $(STATIC) $(SHARED) $(SHARED_LINKS) $(BUILD)/pkgconfig/linattn-uninstalled.pc ## the library only
examples: $(EXAMPLES) $(CXX_EXAMPLES)
tests: $(TESTS) $(BUILD)/tests/check_vectors $(BUILD)/tests/bits $(FUZZ_TARGETS:%=$(BUILD)/tests/replay_%) ## the tests, without running them

define compile
@mkdir -p $(@D)
$(call say,CC)
$(Q)$(CC) $(ALL_CFLAGS) $(INTERNAL) $(CONTRACT) $(1) -MMD -MP -c -o $@ $<
endef
define link
@mkdir -p $(@D)
$(call say,LD)
$(Q)$(CC) $(LINK_FLAGS) $(1) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(2) $(LAPACK) $(LIBS)
endef
define KERNEL_RULE
$(OBJ)/%.$(1).o: %.kernel.c | $(NO_COMPILER)
	$$(call compile,$(ISA_FLAGS_$(1)) $(KERNEL_FLAGS))
endef
$(foreach isa,$(ISAS),$(eval $(call KERNEL_RULE,$(isa))))

# An enumeration's value cannot be made into text by the preprocessor.
$(OBJ)/lib/common/version.o: DEFINES = -DLINATTN__VERSION_TEXT='"$(VERSION)"'
$(OBJ)/%.o: %.c | $(NO_COMPILER)
	$(call compile,$(DEFINES))

FAILING := $(OBJ)/lib/common/allocate.failing.o
$(FAILING) $(MEMORY_TESTS:%.c=$(OBJ)/%.o): DEFINES = -DLINATTN_FAIL_ALLOCATION
$(FAILING): lib/common/allocate.c | $(NO_COMPILER)
	$(call compile,$(DEFINES))
$(MEMORY_TESTS:%.c=$(BUILD)/%): $(FAILING)

# Objects made with -flto hold no machine code yet: the archive gets one that does, and that any linker takes.
WHOLE := $(if $(LTO),$(OBJ)/liblinattn.o)
$(WHOLE): $(OBJECTS)
	$(call say,LTO)
	$(Q)$(CC) $(LINK_FLAGS) -r $(if $(findstring clang,$(CC)),,-flinker-output=nolto-rel) -o $@ $^

$(STATIC): $(or $(WHOLE),$(OBJECTS)) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(SHARED): $(OBJECTS) lib/linattn.map $(BUILD)/flags
	$(call link,$(SHARED_FLAGS))

$(SHARED_LINKS): $(SHARED)
	@ln -sf $(<F) $@

$(BUILD)/examples/%: $(OBJ)/examples/%.o $(EXAMPLE_COMMON:%.c=$(OBJ)/%.o) $(STATIC) $(BUILD)/flags
	$(call link)
$(BUILD)/examples/%_cpp: examples/%.cpp $(PUBLIC_HEADERS) $(STATIC) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CXX)
	$(Q)$(CXX) -std=c++11 -Iinclude $(WARNINGS) $(REPRODUCIBLE) $(LINK_FLAGS) -o $@ $< $(STATIC) $(LAPACK) $(LIBS)

# What tests share: each takes what it uses.
$(BUILD)/tests/common.a: $(TEST_COMMON:%.c=$(OBJ)/%.o) $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/tests/test_%: $(OBJ)/tests/test_%.o $(BUILD)/tests/common.a $(STATIC) $(BUILD)/flags
	$(call link,,$(CHECK_LIBS))

# Brings LAPACKE functions of its own, over LAPACK's Fortran.
$(BUILD)/tests/test_lapack_stub: LAPACK := -llapack -lblas

# Targets of the fuzzer, with libFuzzer's main function or with one that reads files again; and the examples' readers of files.
$(BUILD)/tests/readers.a: $(patsubst %,$(OBJ)/examples/common/%.o,results results_read table) $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
$(BUILD)/tests/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(BUILD)/tests/readers.a $(STATIC) $(BUILD)/flags
	$(call link,-fsanitize=fuzzer)
$(BUILD)/tests/replay_%: $(OBJ)/tests/fuzz/fuzz_%.o $(OBJ)/tests/fuzz/replay.o $(BUILD)/tests/readers.a $(STATIC) $(BUILD)/flags
	$(call link)

# Test programs that do without Check: tests/x.c, or a folder tests/x/.
$(BUILD)/tests/%: $(OBJ)/tests/%.o $(BUILD)/tests/common.a $(STATIC) $(BUILD)/flags
	$(call link)
$(BUILD)/tests/bench: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/bench/*.c)) $(STATIC) $(BUILD)/flags
	$(call link)
# Runs on machines for which there is no LAPACK, and takes no object from the archive that wants it, where there is more than one.
$(BUILD)/tests/bits: LAPACK := $(if $(LTO),$(LAPACK))
$(BUILD)/tests/bits: $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/bits/*.c)) $(STATIC) $(BUILD)/flags
	$(call link)

$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(FLAGS) $(CXX) $(SHARED_FLAGS) $(LDFLAGS) $(OBJECTS)) >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

no-compiler:
	$(error The C compiler "$(CC)" does not run. Install one, name another (make CC=...), or use "make check" or "make demo", \
	        which install what is missing)

-include $(wildcard $(OBJ)/*/*.d $(OBJ)/*/*/*.d)

# ---- Installation --------------------------------------------------------------------------------------------------------------
PC_DIR = $(LIBDIR)/pkgconfig
# in_prefix: a folder as the .pc file names it.
in_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
# fill: a template with @PREFIX@, @LIBDIR@, @INCLUDEDIR@ filled in.
fill = sed -e 's|@PREFIX@|$(1)|' -e 's|@LIBDIR@|$(2)|' -e 's|@INCLUDEDIR@|$(3)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|'

$(BUILD)/pkgconfig/linattn-uninstalled.pc: pkgconfig/linattn-uninstalled.pc.in include/linattn/version.h $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call fill,,$(abspath $(BUILD))/lib,$(CURDIR)/include) $< >$@

.PHONY: install uninstall
install: lib ## into PREFIX, or staged under DESTDIR
	@mkdir -p '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(PC_DIR)' '$(DESTDIR)$(INCLUDEDIR)/linattn'
	$(Q)install -m 644 $(PUBLIC_HEADERS) '$(DESTDIR)$(INCLUDEDIR)/linattn'
	$(Q)install -m 644 $(STATIC) '$(DESTDIR)$(LIBDIR)'
	$(Q)install -m 755 $(SHARED) '$(DESTDIR)$(LIBDIR)'
	$(Q)for link in $(notdir $(SHARED_LINKS)); do ln -sf $(notdir $(SHARED)) '$(DESTDIR)$(LIBDIR)'/$$link; done
	$(Q)$(call fill,$(PREFIX),$(call in_prefix,$(LIBDIR)),$(call in_prefix,$(INCLUDEDIR))) pkgconfig/linattn.pc.in \
	    >'$(DESTDIR)$(PC_DIR)/linattn.pc'
	@echo 'Installed liblinattn $(VERSION) in $(DESTDIR)$(LIBDIR). Build programs with'
	@echo '    export PKG_CONFIG_PATH=$(PC_DIR)'
	@echo '    cc program.c $$(pkg-config --cflags --libs linattn) -Wl,-rpath,$(LIBDIR)'
	@echo 'Without -rpath, programs find it once $(LIBDIR) is known to the loader: run ldconfig as root if it is listed in'
	@echo '/etc/ld.so.conf (/usr/local/lib is), or set LD_LIBRARY_PATH=$(LIBDIR).'

uninstall: ## removes what install put there, given the same variables
	$(Q)rm -f $(foreach file,$(notdir $(STATIC) $(SHARED) $(SHARED_LINKS)),'$(DESTDIR)$(LIBDIR)/$(file)') \
	    '$(DESTDIR)$(PC_DIR)/linattn.pc'
	$(Q)rm -rf '$(DESTDIR)$(INCLUDEDIR)/linattn'

# ---- Running the examples ------------------------------------------------------------------------------------------------------
.PHONY: demo reproduce bench
demo: $(EXAMPLES) ## SGD against Adam on setting 1: a table, a picture and a CSV file in out/
	$(BUILD)/examples/adam_vs_sgd --recipe setting1 --seeds 2 --steps 3000 --threads $(THREADS) --out out

reproduce: $(EXAMPLES) $(SHARED) ## every figure and table into OUT, ending with report.html (QUICK=1; STAGES="F2a T2c")
	@$(REPRODUCE) --programs $(BUILD)/examples --library $(SHARED) --version $(VERSION) --threads $(THREADS) --out '$(OUT)' \
	    $(if $(QUICK),--quick) --stages '$(STAGES)'

REPRODUCE = PYTHONDONTWRITEBYTECODE=1 python3 examples/reproduce/run.py

bench: $(BUILD)/tests/bench ## timings as CSV
	@$(BUILD)/tests/bench

.PHONY: bench-plots
bench-plots: $(BUILD)/tests/bench ## those timings as out/bench.csv and out/performance.svg, how the cost grows (needs gnuplot)
	@mkdir -p out
	@$(BUILD)/tests/bench >out/bench.csv.part && mv out/bench.csv.part out/bench.csv
	@tests/bench/plots.sh out/bench.csv out/performance.svg

# PYTHON may have PyTorch or JAX; PEER_OPTIONS='--pairs 3 --tasks step_setting1' and more: tests/bench/peer/peer.py --help.
.PHONY: bench-peer
bench-peer: lib ## the same work in PyTorch beside ours: ratios, also in out/bench_peer.csv (PYTHON: which Python)
	@PYTHON='$(PYTHON)' tests/bench/peer/run.sh '$(abspath $(BUILD))' $(PEER_OPTIONS)

# ---- Checks --------------------------------------------------------------------------------------------------------------------
.PHONY: check check-programs check-vectors check-headers check-abi check-cdef check-python check-install abi-ledger cdef
VECTORS       = $(or $(LINATTN_VECTORS),tests/vectors)
RUN_VECTORS   = $(BUILD)/tests/check_vectors '$(VECTORS)'
RUN_SCRIPTS   = $(foreach script,$(wildcard tests/test_*.sh),"CC='$(CC)' CFLAGS='$(LINK_FLAGS)' sh $(script) $(BUILD)")
RUN_BITS      = $(BUILD)/tests/bits >$(BUILD)/bits.txt
RUN_CORPUS    = $(foreach target,$(FUZZ_TARGETS),"$(BUILD)/tests/replay_$(target) tests/fuzz/corpus/$(target)/*")
RUN_TESTS     = $(TESTS) "$(RUN_VECTORS)" "$(RUN_BITS)" $(RUN_CORPUS)
TREE_CHECKS   = check-headers check-abi check-cdef

check: tests all ## every test program, the known answers, and quick checks of the tree
	@tools/tally.sh $(RUN_TESTS) $(RUN_SCRIPTS) $(foreach goal,$(TREE_CHECKS),'$(MAKE) --no-print-directory $(goal)')

check-programs: tests all
	@tools/tally.sh $(filter-out $(SKIP),$(RUN_TESTS)) $(RUN_SCRIPTS)

check-vectors: $(BUILD)/tests/check_vectors ## the known answers in LINATTN_VECTORS, or tests/vectors
	@$(RUN_VECTORS)

check-headers: ## every public header alone, in every standard of C and C++; what it brings along
	@CC='$(CC)' CXX='$(CXX)' tests/headers/check.sh

check-abi: lib ## symbols, struct layouts, enumeration values and function types against the ledgers in tests/abi
	@CC='$(CC)' tests/abi/check.sh $(SHARED) $(STATIC)

abi-ledger: lib cdef ## adds what is new in the headers to the ledgers in tests/abi; refuses what breaks the ABI
	@tests/abi/check.sh --ledger $(SHARED)

check-cdef: ## the declarations for Python are those of the headers; passes where there is no Python
	@if python3 -c '' 2>/dev/null; then CC='$(CC)' python3 tools/cdef.py --check; else echo 'check-cdef: skipped, no python3'; fi

cdef: ## writes the declarations for Python anew
	@CC='$(CC)' python3 tools/cdef.py

$(BUILD)/python/reference: $(OBJ)/python/tests/reference.o $(STATIC) $(BUILD)/flags
	$(call link)
check-python: lib $(BUILD)/python/reference ## the Python package's tests and examples (PYTHON: which Python)
	@PYTHON='$(PYTHON)' python/tests/check.sh '$(abspath $(BUILD))'

check-install: all ## installs into fresh folders and builds programs against the result
	@CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' tests/install/check.sh '$(abspath $(BUILD))'

# ---- Checks with other compilers, checkers, machines and LAPACKs ---------------------------------------------------------------
.PHONY: check-matrix check-tests check-asan check-tsan check-threads check-valgrind check-clang check-aarch64 check-sse2 check-emulated check-blas
# Checked code is large: kernels then know no size before run time, and optimising what the address sanitizer made of them takes minutes
# for each.
SANITIZE    = -DLINATTN__GENERAL_SIZES -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize
# Loops over every kernel and shape take checkers minutes; threads and memory are used there as in the other tests, and the known
# answers run every kernel under checkers too.
LONG_TESTS   = %/test_conformance %/test_front %/test_trained %/test_hessian_blocks %/test_diagnostics_handle %/test_spectrum_threads
THREAD_TESTS = $(filter-out %/test_conformance %/test_front %/test_hessian_blocks %/test_fork, \
                 $(patsubst %.c,$(BUILD)/%,$(shell grep -lE 'pthread|threads' $(TEST_SOURCES))))

check-asan: ## the tests under the address and undefined-behaviour sanitizers
	@$(MAKE) BUILD=$(BUILD)/asan CFLAGS='-O1 -g1' EXTRA_CFLAGS='$(EXTRA_CFLAGS) $(SANITIZE)=address,undefined' \
	    KERNEL_FLAGS=-O0 RUN_SCRIPTS= SKIP='$(LONG_TESTS)' check-programs

check-tsan: ## the tests that use threads, under the thread sanitizer
	@$(MAKE) BUILD=$(BUILD)/tsan CFLAGS='-O1 -g1' EXTRA_CFLAGS='$(EXTRA_CFLAGS) $(SANITIZE)=thread' check-threads
# Address randomisation can put the program where the thread sanitizer does not expect it; and it cannot follow the BLAS's threads.
check-threads: $(THREAD_TESTS)
	@OPENBLAS_NUM_THREADS=1 WRAP='$(shell setarch -R true 2>/dev/null && echo setarch -R)' CK_FORK=no tools/tally.sh $(THREAD_TESTS)

check-valgrind: tests ## the tests under valgrind
	@WRAP='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect' CK_FORK=no \
	    tools/tally.sh $(filter-out $(LONG_TESTS) %/test_custom_sampler %/test_memory,$(RUN_TESTS))

MATRIX = $(foreach cc,gcc clang,$(foreach way,O0 O2 O3 lto,$(cc)-$(way)))
check-matrix: ## the tests built by gcc and clang with -O0, -O2, -O3 and link-time optimisation (MATRIX="gcc-O0 clang-lto": some)
	@for build in $(MATRIX); do \
	    case $$build in *-lto) flags='-O3 -flto=auto' ;; *) flags=-$${build#*-} ;; esac; \
	    printf '==== %s\n' "$$build"; \
	    $(MAKE) BUILD=$(BUILD)/$$build CC=$${build%-*} CFLAGS="$$flags -g1" check-tests || failed="$$failed $$build"; \
	done; [ -z "$$failed" ] || { echo "FAILED:$$failed"; exit 1; }

check-tests: tests
	@tools/tally.sh $(filter-out $(SKIP),$(RUN_TESTS))

.PHONY: coverage
coverage: ## lines and branches of lib/ that the tests run (docs/coverage.md); fails below 95% and 85%
	@rm -rf $(BUILD)/coverage/obj
	@$(MAKE) BUILD=$(BUILD)/coverage CC=gcc CFLAGS='-O0 -g1 --coverage' EXTRA_CFLAGS='$(EXTRA_CFLAGS) -DLINATTN__GENERAL_SIZES' \
	    KERNEL_FLAGS= SKIP= check-tests
	@python3 tools/coverage.py $(BUILD)/coverage/obj/*

# ---- Fuzzing: tests/fuzz/README.md ---------------------------------------------------------------------------------------------
FUZZ_SECONDS ?= 300
.PHONY: fuzz fuzz-run
fuzz: ## each reader of files, FUZZ_SECONDS long, by clang's libFuzzer; what it finds is left in build/fuzz
	@$(MAKE) BUILD=$(BUILD)/fuzz CC=clang CFLAGS='-O1 -g1' EXTRA_CFLAGS='$(SANITIZE)=address,undefined,fuzzer-no-link' \
	    KERNEL_FLAGS=-O0 fuzz-run
fuzz-run: $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz_%)
	@for target in $(FUZZ_TARGETS); do tests/fuzz/run.sh $(BUILD) $$target $(FUZZ_SECONDS) || exit; done

check-clang: ## everything built by clang without a warning, and tested
	@$(MAKE) BUILD=$(BUILD)/clang CC=clang WERROR=-Werror all check-programs

comma     := ,
join_path  = $(subst $() $(),:,$(strip $(1)))

# Fewer tests than there are: an emulator takes ten times as long, and the samples whose statistics others look at have known bits.
EMULATED_TESTS = $(filter-out $(LONG_TESTS) %/test_custom_sampler %/test_tasks %/test_moments %/test_covariates,$(TESTS)) "$(RUN_VECTORS)"
AARCH64        = $(abspath $(BUILD))/aarch64
AARCH64_LIBS   = $(foreach part,/ /blas /lapack,$(1)$(AARCH64)/sysroot/usr/lib/aarch64-linux-gnu$(part))

check-aarch64: $(BUILD)/tests/bits ## the tests on an emulated aarch64, with NEON's kernels; its samples have the same bits
	@tools/sysroot.sh arm64 $(AARCH64)/sysroot check liblapacke-dev libblas-dev
	@$(MAKE) BUILD=$(AARCH64) CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar CPPFLAGS=-I$(AARCH64)/sysroot/usr/include \
	    LDFLAGS='$(call AARCH64_LIBS,-L) $(call AARCH64_LIBS,-Wl$(comma)-rpath-link$(comma))' CHECK_LIBS='-lcheck -lsubunit' \
	    EMULATOR='qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$(call join_path,$(AARCH64_LIBS))' check-emulated
	$(RUN_BITS)
	cmp $(BUILD)/bits.txt $(AARCH64)/bits.txt

check-emulated: tests
	@WRAP='$(EMULATOR)' CK_EXCLUDE_TAGS=processes tools/tally.sh $(EMULATED_TESTS)
	$(EMULATOR) $(RUN_BITS)

# Nehalem has no AVX, and the emulator stops a program that uses what its processor has not. OpenBLAS takes it for a Haswell.
check-sse2: tests ## the tests on an emulated processor of x86-64 without AVX
	@$(MAKE) --no-print-directory LINATTN_READY=1 EMULATOR='OPENBLAS_CORETYPE=Nehalem qemu-x86_64 -cpu Nehalem' check-emulated

BLAS_TESTS := $(if $(TEST_SOURCES),$(patsubst %.c,$(BUILD)/%,$(shell grep -lE 'linattn_(spectrum|diagnostics) ' $(TEST_SOURCES))))
check-blas: $(BLAS_TESTS) $(BUILD)/tests/check_vectors ## what rests on LAPACK, under each BLAS and kernel of OpenBLAS found here
	@CC='$(CC)' tests/blas/check.sh $(BLAS_TESTS) "$(RUN_VECTORS)"

# ---- Housekeeping --------------------------------------------------------------------------------------------------------------
.PHONY: clean dist docs help
docs: ## the API reference from the headers, as BUILD/docs/html/index.html (needs doxygen)
	@mkdir -p $(BUILD)/docs
	@(cat docs/Doxyfile; echo 'OUTPUT_DIRECTORY = "$(BUILD)/docs"'; echo 'PROJECT_NUMBER = $(VERSION)') | doxygen -
	@echo '$(BUILD)/docs/html/index.html'

clean: ## removes the build folder
	rm -rf '$(BUILD)'

dist: ## a tarball of the last commit
	@mkdir -p $(BUILD)
	git archive --prefix=liblinattn-$(VERSION)/ -o $(BUILD)/liblinattn-$(VERSION).tar.gz HEAD

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

endif
