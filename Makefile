# liblinattn. `make` builds the library and the examples, `make demo` runs the main job, `make check` runs the tests.
# Variables: CC, CFLAGS, PREFIX, DESTDIR, BUILD (where everything is built), V=1 (show the commands).

BUILD  ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O3 -g
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))

VERSION_PART = $(shell sed -n 's/^ *LINATTN_VERSION_$(1) = \([0-9][0-9]*\),$$/\1/p' include/linattn/version.h)
MAJOR   := $(call VERSION_PART,MAJOR)
VERSION := $(MAJOR).$(call VERSION_PART,MINOR).$(call VERSION_PART,PATCH)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
# No fused multiply-add unless a kernel asks for it: samples are the same bits on every machine.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Ilib $(WARNINGS) -fPIC -fvisibility=hidden -fno-math-errno -pthread $(CFLAGS) $(EXTRA_CFLAGS)

KEY := $(shell printf '%s' '$(CC) $(ALL_CFLAGS)' | cksum | cut -d' ' -f1)
OBJ := $(BUILD)/obj/$(KEY)

ifneq ($(filter x86_64 i686,$(MACHINE)),)
ISAS := baseline avx2 avx512
else
ISAS := baseline
endif
ISA_FLAGS_baseline := -DLINATTN__ISA=baseline -DLINATTN__LANES=2
ISA_FLAGS_avx2     := -DLINATTN__ISA=avx2 -DLINATTN__LANES=4 -mavx2 -mfma
ISA_FLAGS_avx512   := -DLINATTN__ISA=avx512 -DLINATTN__LANES=8 -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512
# Kernels of lib/kernels contract; those of the sampler define bits and do not.
CONTRACT = $(if $(filter lib/kernels/%.kernel.c,$<),-ffp-contract=fast,-ffp-contract=off)

ALL_SOURCES    := $(sort $(wildcard lib/*/*.c))
KERNEL_SOURCES := $(filter %.kernel.c,$(ALL_SOURCES))
SOURCES        := $(filter-out %.kernel.c,$(ALL_SOURCES))
OBJECTS        := $(SOURCES:%.c=$(OBJ)/%.o) $(foreach isa,$(ISAS),$(KERNEL_SOURCES:%.kernel.c=$(OBJ)/%.$(isa).o))

TEST_SOURCES   := $(sort $(wildcard tests/test_*.c))
TEST_SUPPORT   := $(sort $(wildcard tests/support/*.c tests/reference/*.c))
TESTS          := $(TEST_SOURCES:tests/%.c=$(BUILD)/tests/%)
CHECK_LIBS     := $(shell pkg-config --libs check 2>/dev/null)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$(2)')

.PHONY: all lib
all: lib
lib: $(BUILD)/lib/liblinattn.a

$(BUILD)/lib/liblinattn.a: $(OBJECTS)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define KERNEL_RULE
$(OBJ)/%.$(1).o: %.kernel.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$(Q)$(CC) $(ALL_CFLAGS) $$(CONTRACT) $(ISA_FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call KERNEL_RULE,$(isa))))

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(CONTRACT) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: $(OBJ)/tests/%.o $(TEST_SUPPORT:%.c=$(OBJ)/%.o) $(BUILD)/lib/liblinattn.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_CFLAGS) -o $@ $^ $(CHECK_LIBS) -lm -pthread

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
