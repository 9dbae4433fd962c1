"""The address of a store or collection in PostgreSQL: `postgresql://user@host:5432/db#schema`."""

from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from jan_magics.domain.errors import SettingError

SCHEMES: Final = ("postgresql", "postgres")
SCHEMA: Final = "jan_magics"
_SECRET: Final = ("password", "passfile", "sslpassword")


@dataclass(frozen=True, slots=True)
class PostgresUrl:
    """Where a database is, without a password; `schema` is what stands behind the #."""

    address: str
    schema: str = SCHEMA

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an address.

        Raises:
            SettingError: for another scheme, no database, or a password, which is not repeated.
        """
        parts = urlsplit(text)
        if parts.scheme not in SCHEMES:
            raise SettingError(f"{parts.scheme or text!r} is no database", _EXAMPLE)
        named = {key.lower() for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
        if parts.password or named & set(_SECRET):
            raise SettingError(
                "the address of a database holds a password, which would be shown and stored",
                "Leave it out, and put it into PGPASSWORD, ~/.pgpass or the keyring",
            )
        if parts.path.strip("/") == "":
            raise SettingError("the address names no database", _EXAMPLE)
        schema = unquote(parts.fragment) or SCHEMA
        if "\0" in schema or len(schema.encode()) > _LONGEST:
            raise SettingError(
                f"the schema {schema!r} is too long a name", f"At most {_LONGEST} bytes"
            )
        return cls(text.partition("#")[0], schema)

    def __str__(self) -> str:
        """Return the address as it may be shown."""
        return f"{self.address}#{self.schema}"


_LONGEST: Final = 63
_EXAMPLE: Final = "It looks like this: postgresql://user@host/database#schema"


def is_postgres(text: str) -> bool:
    """Tell whether a text is the address of a database."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text
