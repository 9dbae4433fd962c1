"""Every area of the vectors has an adapter, or is listed as not yet built.

An adapter is an entry of `ADAPTERS` in some `test_*.py` of this folder; who adds one for a listed
area takes the area off the list.
"""

from importlib import import_module
from pathlib import Path

from tests.conformance.vectors import FILE, load

NOT_YET_BUILT: frozenset[str] = frozenset(
    {
        "rag.collection_names",
        "rag.cosine_index",
        "rag.embed",
        "rag.search_linear",
        "rag.search_modes",
    }
)


def built() -> set[str]:
    modules = (
        import_module(f"tests.conformance.{path.stem}")
        for path in Path(__file__).parent.glob("test_*.py")
        if path != Path(__file__)
    )
    return {area for module in modules for area in module.ADAPTERS}


def test_every_area_has_an_adapter_or_is_listed() -> None:
    unknown = {vector.area for vector in load()} - built() - NOT_YET_BUILT
    assert not unknown, f"areas of {FILE.name} without an adapter: {sorted(unknown)}"


def test_what_is_built_is_off_the_list() -> None:
    stale = built() & NOT_YET_BUILT
    assert not stale, f"built, so take them off NOT_YET_BUILT: {sorted(stale)}"


def test_no_vector_is_read_twice() -> None:
    ids = [vector.id for vector in load()]
    assert len(set(ids)) == len(ids) > 0
