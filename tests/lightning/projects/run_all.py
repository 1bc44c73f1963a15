"""Run the projects named on the command line, each in an empty folder, and write what they record as JSON."""

import importlib
import json
import sys
import tempfile

if __name__ == "__main__":
    records = {}
    for name in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            records[name] = importlib.import_module(name).main(folder)
        print(f"{name}: done", flush=True)
    with open(sys.argv[1], "w") as file:
        json.dump(records, file, indent=1)
