"""The messages of protocol.json as TypeScript: `python -m tests.protocol_types` writes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "jan_magics" / "widgets" / "protocol.json"
TYPES = ROOT / "labextension" / "src" / "protocol.ts"
HEAD = "/** Made of jan_magics/widgets/protocol.json by `python -m tests.protocol_types`. */\n"
NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def definitions() -> Mapping[str, Any]:
    """Read what is defined."""
    found: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return found


def typed(schema: Mapping[str, Any]) -> str:
    """Return a schema as a type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " | ".join(map(_literal, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(map(typed, schema["anyOf"]))
    kinds = schema.get("type", [])
    return " | ".join(
        _kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)
    )


def interface(name: str, schema: Mapping[str, Any]) -> str:
    """Return a definition as an exported interface, what may be missing with a question mark."""
    required = schema.get("required", ())
    lines = [
        f"  {key}{'' if key in required else '?'}: {typed(each)};"
        for key, each in schema.get("properties", {}).items()
    ]
    if schema.get("additionalProperties"):
        lines.append("  [key: string]: unknown;")
    return "\n".join(
        (f"/** {schema['description']} */", f"export interface {name} {{", *lines, "}")
    )


def module() -> str:
    """Return the whole file."""
    ours = ((name, each) for name, each in definitions().items() if name.startswith("Page"))
    return "\n".join((HEAD, "\n\n".join(interface(name, each) for name, each in ours), ""))


def _kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"{typed(schema['items'])}[]"
    if kind == "object":
        return "Record<string, unknown>"
    return NAMES.get(kind, "null")


def _literal(value: str | None) -> str:
    return "null" if value is None else f"'{value}'"


if __name__ == "__main__":
    TYPES.write_text(module(), encoding="utf-8")
