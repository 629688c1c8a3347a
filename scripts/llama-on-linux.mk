# Builds ggml with its Metal backend for Linux, test-backend-ops and llama-simple; scripts/llama-on-linux.sh calls it.
#
#   LLAMA       folder with the sources of llama.cpp
#   LIBRARIES   folder with the framework's libraries
#   HEADERS     folder with the framework's headers
#
# Writes to the current folder. Compiles what the tests need: no shared libraries, no tools. `nice` leaves the machine usable.

CLANG ?= clang-22
CLANGXX ?= clang++-22
GGML = $(LLAMA)/ggml/src
# The reference of test-backend-ops is the CPU backend: it is optimized, and the rest is not.
CPU = -march=x86-64-v3
ifneq ($(shell uname -m),x86_64)
CPU =
endif
INCLUDES = -I. -I$(LLAMA)/ggml/include -I$(GGML) -I$(GGML)/ggml-cpu -I$(LLAMA)/include -I$(LLAMA)/src
DEFINES = -DGGML_USE_CPU -DGGML_USE_METAL -DGGML_METAL_EMBED_LIBRARY -DGGML_SCHED_MAX_COPIES=4 -D_GNU_SOURCE \
  -D_XOPEN_SOURCE=600 -DNDEBUG
COMMON = -w -pthread $(INCLUDES) $(DEFINES)
# Without automatic reference counting, as in llama.cpp's own build.
OBJECTIVE = -fobjc-runtime=gnustep-2.0 -fblocks -fconstant-string-class=NSConstantString -I$(HEADERS)

BASE = $(patsubst %,$(GGML)/%,ggml.c ggml.cpp ggml-alloc.c ggml-backend.cpp ggml-backend-meta.cpp ggml-backend-reg.cpp \
  ggml-backend-dl.cpp ggml-opt.cpp ggml-threading.cpp ggml-quants.c gguf.cpp)
PROCESSOR = $(patsubst %,$(GGML)/ggml-cpu/%,ggml-cpu.c ggml-cpu.cpp repack.cpp hbm.cpp quants.c traits.cpp amx/amx.cpp \
  amx/mmq.cpp tiled/tiled.cpp tiled/tiled-kernel.cpp binary-ops.cpp unary-ops.cpp vec.cpp ops.cpp)
PROCESSOR += $(wildcard $(GGML)/ggml-cpu/arch/$(if $(CPU),x86,arm)/quants.c $(GGML)/ggml-cpu/arch/$(if $(CPU),x86,arm)/repack.cpp)
METAL = $(wildcard $(GGML)/ggml-metal/*.cpp $(GGML)/ggml-metal/*.m)
MODELS = $(wildcard $(LLAMA)/src/*.cpp $(LLAMA)/src/models/*.cpp)
KERNELS = $(filter-out fa_common fa_vec_common,$(basename $(notdir $(wildcard $(GGML)/ggml-metal/kernels/*.metal))))

object = $(patsubst $(LLAMA)/%,objects/%.o,$(1))
GGML_OBJECTS = $(call object,$(BASE) $(PROCESSOR) $(METAL)) $(KERNELS:%=objects/kernels/%.o)

all: test-backend-ops llama-simple

test-backend-ops: objects/tests/test-backend-ops.o $(GGML_OBJECTS)
llama-simple: $(call object,$(LLAMA)/examples/simple/simple.cpp $(MODELS)) $(GGML_OBJECTS)
test-backend-ops llama-simple:
	$(CLANGXX) -pthread $^ -o $@ -L$(LIBRARIES) -lmetal_framework -Wl,-rpath,$(LIBRARIES) -ldl -lm

$(call object,$(PROCESSOR) $(GGML)/ggml-quants.c $(GGML)/ggml.c): OPTIMIZE = -O2 $(CPU)
OPTIMIZE = -O0
# Its random numbers and its list of rows take most of the time without optimization.
objects/tests/test-backend-ops.o: OPTIMIZE = -O1
# One thread for the reference: those of ggml spin, and several processes may share the cores.
$(call object,$(GGML)/ggml-cpu/ggml-cpu.cpp): one-thread.h
$(call object,$(GGML)/ggml-cpu/ggml-cpu.cpp): OPTIMIZE = -O2 $(CPU) -include one-thread.h

objects/%.c.o: $(LLAMA)/%.c ggml-version.h
	@mkdir -p $(@D)
	$(CLANG) -std=c11 $(OPTIMIZE) $(COMMON) -c $< -o $@

# Apple's library includes <memory> by itself.
objects/%.cpp.o: $(LLAMA)/%.cpp ggml-version.h llama-version.h
	@mkdir -p $(@D)
	$(CLANGXX) -std=c++17 -include memory $(OPTIMIZE) $(COMMON) -c $< -o $@

objects/%.m.o: $(LLAMA)/%.m ggml-version.h $(wildcard $(HEADERS)/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 $(OPTIMIZE) $(COMMON) $(OBJECTIVE) -c $< -o $@

# Several processes share its rows.
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
objects/tests/test-backend-ops.cpp: $(LLAMA)/tests/test-backend-ops.cpp
	@mkdir -p $(@D)
	sed -e 's/std::atomic<size_t> test_idx = 0;/std::atomic<size_t> \& test_idx = shared_rows::taken();/' \
	  -e 's/MAX_TESTS_PER_ITER = 100;/MAX_TESTS_PER_ITER = shared_rows::CHUNK;/' \
	  -e 's/^    filter_test_cases(test_cases, params_filter);/&\n    shared_rows::sort(test_cases);/' $< >$@
	test "$$(grep -c shared_rows:: $@)" = 3

objects/tests/test-backend-ops.o: objects/tests/test-backend-ops.cpp $(HERE)llama-shared-rows.h
	$(CLANGXX) -std=c++17 -include memory -include $(HERE)llama-shared-rows.h -I$(LLAMA)/tests $(OPTIMIZE) $(COMMON) -c $< -o $@

# A library of kernels is its source with the headers that it includes, between two symbols.
objects/kernels/%.o: $(GGML)/ggml-metal/kernels/%.metal
	@mkdir -p $(@D)
	python3 $(HERE)flatten-includes.py $< $(GGML)/ggml-metal/kernels $(GGML)/ggml-metal $(GGML) >$(@:.o=.metal)
	printf '.section .rodata\n.globl ggml_metallib_$*_start\nggml_metallib_$*_start:\n.incbin "%s"\n.globl ggml_metallib_$*_end\nggml_metallib_$*_end:\n.section .note.GNU-stack,"",@progbits\n' \
	  '$(@:.o=.metal)' >$(@:.o=.s)
	$(CLANG) -c $(@:.o=.s) -o $@

one-thread.h:
	printf '#include "ggml.h"\n#undef GGML_DEFAULT_N_THREADS\n#define GGML_DEFAULT_N_THREADS 1\n' >$@

ggml-version.h:
	printf '#pragma once\n#define GGML_VERSION "0"\n#define GGML_COMMIT "unknown"\n' >$@

llama-version.h:
	printf '#pragma once\n#define LLAMA_VERSION "0"\n#define LLAMA_COMMIT "unknown"\n' >$@
