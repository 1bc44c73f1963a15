# make demo: migrate the bundled example. make test: everything that CI checks. Both install what they need.
# The long sweeps (conformance, zoo, fuzz, benchmarks) write generated files that are committed.
PYTHON ?= python3.11
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: setup browser demo test docs lint fuzz conformance zoo corpus libraries benchmarks clean

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml requirements.txt scripts/setup
	PYTHON="$(PYTHON)" scripts/setup "$(VENV)"

demo: setup
	$(BIN)/mindferry migrate examples/resnet50_cifar10 -o build/resnet50_ms

test: setup browser lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"
	$(BIN)/python fuzz/convert.py --files 7000 --seed 1
	$(BIN)/python fuzz/weights.py --files 40000 --seed 1

browser:
	scripts/browser

docs: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto docs build/docs
	@echo "docs: build/docs/index.html"

lint: setup
	$(BIN)/ruff check src tests conformance corpus libraries benchmarks fuzz
	$(BIN)/ruff format --check --quiet src tests conformance corpus libraries benchmarks fuzz docs
	$(BIN)/mypy

conformance: setup
	$(BIN)/python -m conformance

zoo: setup
	$(BIN)/python -m pip install --quiet --no-deps timm==1.0.30
	$(BIN)/python -m conformance.zoo --zoo torchvision
	$(BIN)/python -m conformance.zoo --zoo timm

corpus: setup # CLONES=FOLDER of git clones, named owner+name/repo or owner/name; packages come from pip
	$(BIN)/python -m corpus $(if $(CLONES),--clones $(CLONES))

libraries: setup # SITE=FOLDER that holds transformers, timm and the others, as `pip install --target` fills it
	$(BIN)/python -m libraries $(if $(SITE),--site $(SITE))

fuzz: setup
	$(BIN)/python fuzz/weights.py --seconds 3600
	$(BIN)/python fuzz/convert.py --seconds 3600

benchmarks: setup # each writes benchmarks/results/NAME.json; on a machine that does nothing else
	$(BIN)/python benchmarks/weights.py --gb 1 4
	$(BIN)/python benchmarks/verify.py
	$(BIN)/python benchmarks/data.py
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/tune.py
	$(BIN)/python benchmarks/analyze.py
	$(BIN)/python benchmarks/report.py

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
