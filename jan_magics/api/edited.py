"""A plan that was edited: what was decided in it, and nothing that would be passed over."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.overlays import MarkAction

if TYPE_CHECKING:
    import pandas as pd


def prompt_of(frame: "pd.DataFrame") -> str:
    """Return the prompt that a plan was made for. Raises SettingError for what is no plan."""
    if getattr(frame, "columns", None) is None:
        raise SettingError(
            f"a plan is a table, not {type(frame).__name__}",
            "Edit the table of chat.plan(), and give it back.",
        )
    missing = {"id", "action"} - set(frame.columns)
    if missing:
        raise SettingError(
            f"the table has no column {', '.join(sorted(missing))}", "Edit a table of chat.plan()."
        )
    text = frame.attrs.get("jan", {}).get("prompt", "")
    return text if isinstance(text, str) else ""


def edited(
    frame: "pd.DataFrame", table: "pd.DataFrame", stored: Mapping[str, Message]
) -> dict[str, MarkAction]:
    """Return the actions of an edited plan by message; `table` is the plan as it is now.

    Raises:
        SettingError: naming the row, for any other change than that of an action.
    """
    wanted: dict[str, MarkAction] = {}
    fixed = {row.n: row for row in table.itertuples() if not isinstance(row.id, str)}
    for row in frame.itertuples():
        action = action_of(row.action, f" in row {getattr(row, 'n', '?')}")
        if isinstance(row.id, str):
            _refuse_edits(row, stored)
            if wanted.setdefault(row.id, action) != action:
                raise SettingError(
                    f"row {row.id[:8]} is there twice, as {wanted[row.id]!r} and as {action!r}",
                    "Leave one of them.",
                )
        elif (there := fixed.get(getattr(row, "n", None))) is not None:
            _refuse_fixed(row, there)
        elif "n" in frame.columns:
            raise SettingError(
                f"row {row.n} is not in the plan: messages are not added here",
                "Write it: chat.edit(id, text), or ask it: chat.send(text)",
            )
    if gone := [*_gone(frame, wanted, stored)]:
        raise SettingError(
            f"row {gone[0][:8]} was taken out of the table ({len(gone)} in all), which drops none",
            "Keep the rows, and say what is to be left out:"
            " plan.loc[plan.n <= 4, 'action'] = 'drop'",
        )
    return wanted


def action_of(action: object, where: str = "") -> MarkAction:
    """Return an action by its name. Raises SettingError with the names that there are."""
    known: tuple[MarkAction, ...] = get_args(MarkAction)
    found = next((each for each in known if isinstance(action, str) and each == action), None)
    if found is None:
        raise SettingError(f"no action {action!r}{where}", f"It can be: {', '.join(known)}")
    return found


def _refuse_edits(row: Any, stored: Mapping[str, Message]) -> None:
    """Refuse another text or role of a stored message."""
    message = stored.get(row.id)
    if message is None:
        return
    for name, told in (("text", text_of(message)), ("role", message.role)):
        if isinstance(new := getattr(row, name, told), str) and new != told:
            raise SettingError(
                f"the {name} of row {row.id[:8]} was changed; here only `action` can be",
                f"Write another version: chat.edit({row.id[:8]!r}, text)",
            )


def _refuse_fixed(row: Any, there: Any) -> None:
    """Refuse every change of what is no stored message: instructions, a summary, the prompt."""
    if there.action != row.action:
        raise SettingError(
            f"row {row.n} ({there.reason}) cannot be {row.action!r}", "It is always sent."
        )
    new = getattr(row, "text", there.text)
    if isinstance(new, str) and new != there.text:
        again = "chat.plan(text)" if there.reason == "prompt" else "chat.use(system=text)"
        step = f"Say it anew: {again}"
        if there.reason.startswith("summary"):
            step = "Summarise anew: chat.compact()   or send the messages: chat.compact(off=True)"
        raise SettingError(
            f"the text of row {row.n} ({there.reason}) was changed; here only `action` can be", step
        )


def _gone(
    frame: "pd.DataFrame", wanted: Mapping[str, MarkAction], stored: Mapping[str, Message]
) -> Iterator[str]:
    """Yield the messages whose rows were in the table when it was made, and are not any more."""
    ids = frame.attrs.get("jan", {}).get("ids", ())
    yield from (each for each in ids if each not in wanted and each in stored)
