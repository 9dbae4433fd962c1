"""Where things are kept: the data folder, the config folder, a project's own `.jan`."""

from collections.abc import Mapping
from pathlib import Path

import platformdirs

from jan_magics.engine.settings import Settings, Value

FOLDER = ".jan"


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of `config.toml` and `keys.toml`; JAN_CONFIG_FOLDER moves it."""
    named = environment.get("JAN_CONFIG_FOLDER")
    return Path(named) if named else platformdirs.user_config_path("jan-magics", appauthor=False)


def data_folder(settings: Settings, folder: Path) -> Value:
    """Return the data folder: the setting, `.jan` at or above the notebook, or the user's."""
    chosen = settings.get("data_folder")
    if chosen.value:
        path = Path(chosen.value).expanduser()
        return Value(
            chosen.setting, str(path if path.is_absolute() else folder / path), chosen.source
        )
    for parent in (folder, *folder.parents):
        if (parent / FOLDER).is_dir():
            return Value(chosen.setting, str(parent / FOLDER), f"{FOLDER} folder of this project")
    user = platformdirs.user_data_path("jan-magics", appauthor=False)
    return Value(chosen.setting, str(user), "default")
