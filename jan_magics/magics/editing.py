"""`%chat assistants`: the list, and a cell below that edits one of them."""

from pprint import pformat
from typing import Any

from IPython.core.error import UsageError

from jan_magics.api.opening import current_host
from jan_magics.engine.assistants import Assistant


def list_assistants(shell: Any, new: str | None, edit: str | None) -> object:
    """Return the assistants; of the one to edit the status names the file.

    Raises:
        AssistantNotFound: for one to edit that does not exist.
    """
    from jan_magics.api.tables import assistants_table

    if new and edit:
        raise UsageError("%chat assistants: one of --new and --edit, not both")
    known = current_host().session().assistants
    marks: dict[str, str] = {}
    if name := new or edit:
        existed = any(row.assistant.name == name for row in known.rows())
        row = known.create(name) if new else known.named(name)
        shell.set_next_input(editing_cell(row.assistant), replace=False)
        file = f"in {row.path}" if row.path else "built in"
        marks[row.assistant.id] = f"new, {file}" if new and not existed else f"to edit, {file}"
    return assistants_table(known.rows(), marks)


def editing_cell(assistant: Assistant) -> str:
    """Return Python that saves an assistant as it is, to be changed and run."""
    text = assistant.instructions
    # Several lines stay several lines to edit, as long as triple quotes hold them unchanged.
    plain = "\\" not in text and '"""' not in text and not text.endswith('"')
    shown = f'"""\\\n{text}"""' if plain and "\n" in text else repr(text)
    return (
        "import jan_magics as jan\n\n"
        "jan.save_assistant(\n"
        f"    {assistant.name!r},\n"
        f"    instructions={shown},\n"
        f"    parameters={pformat(dict(assistant.parameters), sort_dicts=False)},\n"
        ")"
    )
