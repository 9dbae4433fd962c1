"""`%chat key`: a key is typed without being shown, and the next turn uses it."""

import getpass

from IPython.core.error import StdinNotImplementedError

from jan_magics.api.host import Host
from jan_magics.domain.errors import KeyRefused
from jan_magics.engine.assemble import keep_key, key_holder
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.key_files import FILE_NAME


def ask_for_key(host: Host, provider: str) -> str:
    """Ask for a key and keep it; returns where it is kept.

    Raises:
        SettingError: for a provider that nobody knows, or an address that anybody on the way
            could read, before anything is asked.
        KeyRefused: where nobody can type, or what was typed is no key.
    """
    holder = key_holder(provider, host.session().settings().hosts)
    try:
        value = getpass.getpass(f"key of {provider} (not shown): ")
    except (StdinNotImplementedError, EOFError):
        entry = CATALOG.get(holder)
        variable = entry.key_variable if entry else ""
        step = (
            f"Set {variable} in the environment"
            if variable
            else f'Write it into {FILE_NAME} of the config folder, under [keys]: "{holder}" = "…"'
        )
        raise KeyRefused(
            f"the key of {provider} cannot be typed here: nobody is there to be asked",
            f"{step}, before the notebook is run.",
        ) from None
    where = keep_key(holder, value)
    host.reconnect()  # an open connection has no key, or the old one
    return f"the key of {provider} is kept in {where}"
