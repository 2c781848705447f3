#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Validate JSON reports against reports/schema.

usage: validate.py SCHEMA_DIR [--emitter PROGRAM | FILE...]

The schema is chosen by the document's own "schema" member. Every document is also damaged, one place at a time (a
member added, a required member removed, a value of another type), and each damage must be refused: a schema that
accepts everything would be no check. Each schema stands alone; the gate's holds the campaign's, word for word. Exit 77 without the jsonschema module, unless ZSB_MUST_WORK=1.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("validate.py: no python3-jsonschema")
    sys.exit(1 if os.environ.get("ZSB_MUST_WORK") == "1" else 77)


# Members that may be missing, by schema.
OPTIONAL = {"zuno-sandbox/launcher/v1": "environment"}


def load_validators(directory):
    validators, schemas = {}, {}
    for path in sorted(pathlib.Path(directory).glob("*.schema.json")):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        name = schema["properties"]["schema"]["const"]
        schemas[name] = schema
        validators[name] = jsonschema.Draft202012Validator(schema)
    if schemas["zuno-sandbox/gate/v1"]["$defs"]["campaign"] != schemas["zuno-sandbox/campaign/v1"]:
        sys.exit("validate.py: gate.schema.json does not hold campaign.schema.json word for word")
    return validators


def refuse_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"duplicate member in {keys}")
    return dict(pairs)


def places(value, path=()):
    """Every object and array of a document; of an array only the first and last element, which suffices."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1}) if value else []:
            yield from places(value[index], path + (index,))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def damages(document):
    for path, value in places(document):
        if isinstance(value, dict):
            added = copy.deepcopy(document)
            at(added, path)["unexpected"] = 1
            yield path + ("unexpected",), added
            for key in value:
                if (path + (key,))[0] == OPTIONAL.get(document["schema"]):
                    continue
                removed = copy.deepcopy(document)
                del at(removed, path)[key]
                yield path + (key, "removed"), removed
        if path:
            changed = copy.deepcopy(document)
            at(changed, path[:-1])[path[-1]] = 0.5
            yield path + ("0.5",), changed


def check(validators, text, name):
    document = json.loads(text, object_pairs_hook=refuse_duplicates)
    validator = validators[document["schema"]]
    errors = [f"{name}: {'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(document)]
    small = len(text) < 100_000
    for path, damaged in damages(document) if small and not errors else []:
        if validator.is_valid(damaged):
            errors.append(f"{name}: the schema accepts damage at {'/'.join(map(str, path))}")
    return errors


def documents(arguments):
    if arguments[0] == "--emitter":
        output = subprocess.run([arguments[1]], check=True, stdout=subprocess.PIPE).stdout
        for index, text in enumerate(output.split(b"\0")[:-1]):
            yield text.decode(), f"document {index}"
        return
    for name in arguments:
        yield pathlib.Path(name).read_bytes().decode(), name


def main():
    validators = load_validators(sys.argv[1])
    errors, count = [], 0
    for text, name in documents(sys.argv[2:]):
        errors += check(validators, text, name)
        count += 1
    print("\n".join(errors) if errors else f"{count} documents valid")
    sys.exit(1 if errors or not count else 0)


main()
