"""What a kernel and pages of JupyterLab say is written down, and the types of TypeScript follow."""

import jsonschema
import pytest

from tests.protocol_types import TYPES, definitions, interface, module


def test_the_types_of_the_extension_are_up_to_date() -> None:
    assert TYPES.read_text(encoding="utf-8") == module(), "run: python -m tests.protocol_types"


def test_a_definition_becomes_an_interface() -> None:
    schema = {
        "description": "Two.",
        "properties": {
            "one": {"const": "a"},
            "two": {"type": "array", "items": {"$ref": "#/$defs/PageCall"}},
            "three": {"type": ["string", "null"]},
        },
        "required": ["one"],
    }
    assert interface("Both", schema) == (
        "/** Two. */\nexport interface Both {\n  one: 'a';\n  two?: PageCall[];\n"
        "  three?: string | null;\n}"
    )


@pytest.mark.parametrize("name", definitions())
def test_every_definition_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(definitions()[name])
