"""What may be attached to a question: paths, tables, figures and images become plain values."""

import difflib
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from jan_magics.api.foreign import Frames
from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import FilePart
from jan_magics.engine.attached import Attachment
from jan_magics.engine.fetching import is_address
from jan_magics.rag.finding import found

_TABLES: Final = ("DataFrame", "Series")
STEP: Final = "Give a path, a DataFrame or Series, a matplotlib figure or a PIL image."


def attachments_of(given: object) -> tuple[Attachment, ...]:
    """Return what a call attaches: one thing, or several in a list.

    Raises:
        SettingError: for what is nothing of the kind, and for a path where nothing is.
    """
    if given is None:
        return ()
    several = given if isinstance(given, list | tuple) else (given,)
    return tuple(
        _attachment(each, f"{type(each).__name__} {n}") for n, each in enumerate(several, 1)
    )


def attachment_named(word: str, variables: Mapping[str, object]) -> Attachment:
    """Return what a word on a magic line means: a variable that can be attached, else a path.

    Raises:
        SettingError: when it is neither.
    """
    value = variables.get(word)
    if value is not None and not isinstance(value, str) and _is_known(value):
        return _attachment(value, word)
    if value is not None and not Path(word).exists():
        raise SettingError(f"{word} is a variable with {type(value).__name__} in it", STEP)
    return _of_path(word)


def _attachment(value: Any, name: str) -> Attachment:
    if isinstance(value, str | Path):
        return _of_path(value)
    if _is_table(value):
        rows = f"{len(value):,} {'row' if len(value) == 1 else 'rows'}"
        kind = type(value).__name__
        return Attachment(name, text=f"{kind}, {rows}\n\n{Frames().plain(value)}")
    if (figure := _figure_of(value)) is not None:
        return _image(name, lambda file: figure.savefig(file, format="png"))
    if _is_a(value, "PIL.Image", "Image"):
        return _image(name, lambda file: value.save(file, format="PNG"))
    raise SettingError(f"{type(value).__name__} is nothing that can be attached", STEP)


def _of_path(given: str | Path) -> Attachment:
    name = str(given)
    if is_address(name):
        return Attachment(name.partition("?")[0], url=name.strip())
    if not name.strip():
        raise SettingError("the path of an attachment is empty", "Name a file or folder.")
    first = next(found([name]), None)
    if isinstance(first, Path) and first.exists():
        path = Path(name).expanduser()
        return Attachment(path.name or name, path=path)
    if first is None:
        raise SettingError(f"there are no files in {name!r}", "Name another folder, or a file.")
    fault = "there is no such file" if isinstance(first, Path) else first.reason
    raise SettingError(
        f"{name!r} cannot be attached: {fault}{_nearest(name)}", "Name a file or folder."
    )


def _nearest(name: str) -> str:
    """Say which file of that folder is nearly called so."""
    path = Path(name)
    try:
        names = [each.name for each in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, names, 1)
    return f", closest: {str(path.with_name(near[0]))!r}" if near else ""


def _image(name: str, write: Any) -> Attachment:
    file = BytesIO()
    write(file)
    return Attachment(name, media=FilePart("image/png", file.getvalue(), name=f"{name}.png"))


def _is_known(value: object) -> bool:
    return (
        isinstance(value, Path)
        or _is_table(value)
        or _figure_of(value) is not None
        or _is_a(value, "PIL.Image", "Image")
    )


def _is_table(value: object) -> bool:
    return any(_is_a(value, "pandas", name) for name in _TABLES)


def _figure_of(value: Any) -> Any:
    """Return a figure, or that of its axes; None for anything else."""
    if _is_a(value, "matplotlib.figure", "Figure"):
        return value
    return value.figure if _is_a(value, "matplotlib.axes", "Axes") else None


def _is_a(value: object, module: str, name: str) -> bool:
    """Tell whether a value is of a library's type; without that library loaded nothing is."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
