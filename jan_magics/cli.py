"""`jan-magics doctor | threads | export | leaks | replay`: the verbs, without a notebook."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jan_magics.domain.errors import JanError
from jan_magics.domain.version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns 0, or 1 where something is wrong."""
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except JanError as failure:
        print(f"{type(failure).__name__}: {failure}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("jan-magics", description="What needs no notebook.")
    parser.add_argument("--version", action="version", version=f"jan_magics {VERSION}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")

    doctor = verbs.add_parser("doctor", help="check everything that must work")
    doctor.add_argument("--fix", action="store_true", help="mend what can be mended")
    doctor.set_defaults(run=_doctor)

    verbs.add_parser("threads", help="list the threads").set_defaults(run=_threads)

    export = verbs.add_parser("export", help="write a thread to a file, or a Jan folder")
    export.add_argument("-t", "--thread", required=True, help="its name, or its id's beginning")
    export.add_argument("file", metavar="FILE", help="a .json, .md or .ipynb file, or a folder")
    export.set_defaults(run=_export)

    leaks = verbs.add_parser("leaks", help="look for keys, passwords and addresses of people")
    leaks.add_argument("path", metavar="PATH", help="a notebook, any file, a folder")
    leaks.add_argument(
        "--scrub", action="store_true", help="take secrets out of the notebook; no copy is kept"
    )
    leaks.set_defaults(run=_leaks)

    replay = verbs.add_parser("replay", help="run a notebook that its cassette answers")
    replay.add_argument("notebook", metavar="NOTEBOOK", type=Path)
    replay.add_argument(
        "--check", action="store_true", required=True, help="say what differs; nothing is written"
    )
    replay.set_defaults(run=_replay)
    return parser


def _doctor(parsed: Any) -> int:
    from jan_magics.api.lists import doctor

    found = doctor(fix=parsed.fix)
    for row in found.itertuples(index=False):
        print(f"{row.status:<8} {row.check}: {row.detail}")
        if isinstance(row.fix, str) and row.fix:
            print(f"         {row.fix}")
    return int((found["status"] == "error").any())


def _threads(parsed: Any) -> int:
    from jan_magics.api.lists import threads

    found = threads()
    print(found.to_string(index=False) if len(found) else "no threads")
    return 0


def _export(parsed: Any) -> int:
    from jan_magics.api.chat import Chat
    from jan_magics.api.opening import current_host
    from jan_magics.engine.naming import existing_thread

    existing_thread(current_host().session().engine.store, parsed.thread)
    with Chat(parsed.thread) as chat:
        print(chat.export(Path(parsed.file).absolute()))
    return 0


def _leaks(parsed: Any) -> int:
    from jan_magics.api.leaking import leaks, scrub

    path = Path(parsed.path).absolute()
    found = scrub(path) if parsed.scrub else leaks(path)
    print(found.to_string(index=False) if len(found) else "nothing found")
    return int(len(found) > 0 and not parsed.scrub)


def _replay(parsed: Any) -> int:
    from jan_magics.api.checking import check
    from jan_magics.api.replaying import beside

    named = os.environ.get("JAN_REPLAY")
    found = check(parsed.notebook, Path(named) if named else beside(parsed.notebook))
    print(found)
    return 0 if found.good else 1


if __name__ == "__main__":
    sys.exit(main())
