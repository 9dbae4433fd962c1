"""The schema of a collection in PostgreSQL, and whether a schema is one."""

from typing import TYPE_CHECKING, Any, Final

from jan_magics.domain.errors import CollectionNotFound, RetrievalError, SchemaTooNew
from jan_magics.storage.postgres_connections import loaded
from jan_magics.storage.postgres_schema import NEW_SCHEMA, check_server, quoted
from jan_magics.storage.postgres_url import PostgresUrl

if TYPE_CHECKING:
    from psycopg import Connection

VERSION: Final = 1
"""Of the tables below; raised whenever they change, with a way from the older ones."""
_TABLES: Final = """
    CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE document (
        n BIGINT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        source TEXT COLLATE "C" NOT NULL,
        content TEXT NOT NULL,
        recipe TEXT NOT NULL,
        cut TEXT NOT NULL,
        metadata TEXT NOT NULL,
        pages TEXT NOT NULL,
        kind TEXT NOT NULL,
        warning TEXT,
        reason TEXT,
        chunks BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        indexed_at BIGINT NOT NULL,
        text BYTEA NOT NULL
    );
    -- It is compressed already. A source may be longer than a row of a b-tree; its id is unique.
    ALTER TABLE document ALTER text SET STORAGE EXTERNAL;
    CREATE INDEX document_source ON document USING hash (source);
    CREATE TABLE passage (
        n BIGINT PRIMARY KEY, hash BYTEA NOT NULL UNIQUE, text TEXT COLLATE "C" NOT NULL
    );
    CREATE TABLE chunk (
        n BIGINT PRIMARY KEY,
        id TEXT COLLATE "C" NOT NULL UNIQUE,
        document BIGINT NOT NULL,
        place BIGINT NOT NULL,
        first BIGINT NOT NULL,
        last BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        headings TEXT NOT NULL,
        page BIGINT,
        warning TEXT,
        passage BIGINT NOT NULL
    );
    CREATE INDEX chunk_document ON chunk (document, place);
    CREATE INDEX chunk_passage ON chunk (passage);
    CREATE TABLE generation (n BIGINT PRIMARY KEY, fingerprint TEXT NOT NULL);
    CREATE TABLE words (n BIGINT PRIMARY KEY, body TSVECTOR NOT NULL);
    CREATE INDEX words_body ON words USING gin (body);
    CREATE TEXT SEARCH DICTIONARY stem (TEMPLATE = pg_catalog.snowball, LANGUAGE = porter);
"""
_FUNCTIONS: Final = r"""
    CREATE FUNCTION lexemes(words TEXT) RETURNS tsvector LANGUAGE sql STABLE AS $$
        SELECT coalesce(string_agg(
            '''' || replace(replace(stem, '\', '\\'), '''', '''''') || ''':' || place, ' '
        ), '')::tsvector FROM (
            SELECT coalesce((ts_lexize('stem', word))[1], word) AS stem, place
            FROM unnest(string_to_array(words, ' ')) WITH ORDINALITY AS each (word, place)
        ) AS stems
    $$;
    -- A NUL is no text here, and what is no JSON has no fields.
    CREATE FUNCTION readable(data TEXT, otherwise TEXT) RETURNS JSON LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE WHEN data IS NOT JSON THEN otherwise::json
            WHEN strpos(data, '\u0000') = 0 THEN data::json
            ELSE regexp_replace(data, '(?<!\\)((?:\\\\)*)\\u0000', '\1␀', 'g')::json END
    $$;
    CREATE FUNCTION fields(metadata TEXT)
    RETURNS TABLE (key TEXT, value TEXT, kind TEXT) LANGUAGE sql IMMUTABLE AS $$
        SELECT each.key, CASE json_typeof(each.value)
                WHEN 'null' THEN NULL
                WHEN 'string' THEN each.value #>> '{}'
                WHEN 'boolean' THEN CASE each.value::text WHEN 'true' THEN '1' ELSE '0' END
                ELSE each.value::text END,
            CASE json_typeof(each.value)
                WHEN 'boolean' THEN 'number' ELSE json_typeof(each.value) END
        FROM json_each(readable(metadata, '{}')) AS each
    $$;
    CREATE FUNCTION items(headings TEXT)
    RETURNS TABLE (value TEXT) LANGUAGE sql IMMUTABLE AS $$
        SELECT json_array_elements_text(readable(headings, '[]'))
    $$;
    CREATE FUNCTION folded(body TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
        SELECT normalize(regexp_replace(
            normalize(CASEFOLD, NFKD), '[\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670]+', '', 'g'
        ), NFC)
    $$;
    -- Twice: what a ligature was made of may have to be folded again.
    CREATE FUNCTION holds(body TEXT, needle TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS $$
        SELECT body IS NOT NULL AND strpos(CASE WHEN octet_length(body) = char_length(body)
            THEN lower(body COLLATE "C") ELSE folded(folded(body)) END, needle) > 0
    $$;
"""
_EXTENSION: Final = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = %s"


def is_there(connection: "Connection[Any]", url: PostgresUrl) -> bool:
    """Tell whether there is anything in a schema that a collection would be."""
    row = connection.execute("SELECT to_regnamespace(%s)", (quoted(url.schema),)).fetchone()
    return row is not None and row[0] is not None


def enter(connection: "Connection[Any]", url: PostgresUrl) -> None:
    """Enter the schema of a collection and make it where it is not there, in one transaction.

    Raises:
        RetrievalError: when something else is in it, or the server has no pgvector.
        SchemaTooNew: when a newer version of this package has written it.
        StoreError: when the server is too old.
    """
    check_server(connection, url)
    _look_in(connection, url)
    if _version(connection, url) == VERSION:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (NEW_SCHEMA,))
        if _version(connection, url) == VERSION:  # somebody else made it while we waited
            return
        _extend(connection, url)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(url.schema)}")
        _look_in(connection, url)
        connection.execute(_TABLES)
        connection.execute(_FUNCTIONS.replace("CASEFOLD", _case(connection.info.server_version)))
        connection.execute(
            "INSERT INTO about VALUES ('collection', %s), ('changes', '0')", (str(VERSION),)
        )


def only_read(connection: "Connection[Any]", url: PostgresUrl) -> None:
    """Enter the schema of a collection that is there. Raises as `enter`, and CollectionNotFound."""
    check_server(connection, url)
    _look_in(connection, url)
    if _version(connection, url) == 0:
        raise CollectionNotFound(
            f"there is no collection at {url}", f"Make it of files: %rag add PATH -c {url}"
        )


def _look_in(connection: "Connection[Any]", url: PostgresUrl) -> None:
    """Let names mean what is in the schema, and the types of pgvector, wherever that is."""
    row = connection.execute(_EXTENSION, ("vector",)).fetchone()
    path = f"{quoted(url.schema)}, {row[0] if row else 'public'}"
    connection.execute("SELECT set_config('search_path', %s, false)", (path,))


def _extend(connection: "Connection[Any]", url: PostgresUrl) -> None:
    psycopg = loaded()
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise RetrievalError(
            f"the server of {url} has no pgvector",
            "Its administrator installs it: https://github.com/pgvector/pgvector",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise RetrievalError(
            f"the database of {url} does not use pgvector yet",
            "Ask its owner for: CREATE EXTENSION vector",
        ) from error


def _version(connection: "Connection[Any]", url: PostgresUrl) -> int:
    """Return the version of a collection, 0 where the schema is empty or not there."""
    named = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s)"
    tables = {name for (name,) in connection.execute(named, (quoted(url.schema),)).fetchall()}
    if not tables:
        return 0
    if not {"about", "passage", "generation"} <= tables:
        raise RetrievalError(
            f"the schema of {url} holds something else than a collection",
            "Name another one behind the #",
        )
    row = connection.execute("SELECT value FROM about WHERE key = 'collection'").fetchone()
    found = int(row[0]) if row else 0
    if found > VERSION:
        raise SchemaTooNew(
            f"{url} has schema {found}; this version of jan_magics reads up to {VERSION}",
            "Upgrade: pip install -U jan-magics",
        )
    return found


def _case(server: int) -> str:
    """Return how a server folds case: as Unicode says since 18, nearly so since 17."""
    if server >= 180_000:
        return "casefold(body COLLATE pg_unicode_fast)"
    return "lower(body COLLATE pg_c_utf8)" if server >= 170_000 else "lower(body)"
