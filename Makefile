# make demo: migrate the bundled example. make test: everything that CI checks. Both install what they need.
PYTHON ?= python3.11
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: setup demo test lint conformance clean

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml requirements.txt scripts/setup
	PYTHON="$(PYTHON)" scripts/setup "$(VENV)"

demo: setup
	$(BIN)/mindferry migrate examples/resnet50_cifar10 -o build/resnet50_ms

test: setup lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff check src tests
	$(BIN)/mypy

conformance: setup
	$(BIN)/python -m mindferry.conformance

clean:
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
