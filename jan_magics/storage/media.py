"""Files in a message: FilePart <-> Jan's image_url, input_audio and input_video items."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from jan_magics.domain.messages import FilePart, Json

_DATA_URL: Final = re.compile(r"data:([^;,\s]+);base64,([A-Za-z0-9+/]*={0,2})")
_NO_TYPE: Final = "application/octet-stream"


def read_file(item: Mapping[str, Json], own: Mapping[str, Json]) -> FilePart | None:
    """Read a file item; `own` is what Jan's form cannot say. None for an item we cannot read."""
    match item.get("type"):
        case "image_url":
            found = _read_image(item.get("image_url"))
        case "input_audio":
            found = _read_audio(item.get("input_audio"))
        case "input_video":
            found = _read_video(item.get("input_video"))
        case _:
            found = FilePart(_NO_TYPE) if own else None
    return found and _corrected(found, own)


def write_file(part: FilePart) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the item in Jan's form, and the fields that this form gets wrong."""
    item = _jan_form(part)
    found = read_file(item, {}) or FilePart(_NO_TYPE)
    own: dict[str, Json] = {}
    if part.media_type != found.media_type or item["type"] == "file":
        own["media_type"] = part.media_type
    if part.data != found.data:
        own["data"] = None if part.data is None else _encoded(part.data)
    if part.url != found.url:
        own["url"] = part.url
    if part.name is not None:
        own["name"] = part.name
    return item, own


def _jan_form(part: FilePart) -> dict[str, Json]:
    kind, _, subtype = part.media_type.partition("/")
    if kind == "image":
        url = part.url or ""
        if part.data is not None:
            url = f"data:{part.media_type};base64,{_encoded(part.data)}"
        return {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
    if kind == "audio" and part.data is not None:
        audio: Json = {
            "data": _encoded(part.data),
            "format": "mp3" if subtype == "mpeg" else subtype,
        }
        return {"type": "input_audio", "input_audio": audio}
    if kind == "video" and part.data is not None:
        return {"type": "input_video", "input_video": {"data": _encoded(part.data)}}
    return {"type": "file"}


def _read_image(image: Json) -> FilePart | None:
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return None
    found = _DATA_URL.fullmatch(url)
    data = _decoded(found[2]) if found else None
    # Jan stores no type beside an address, so only the family is known.
    return FilePart("image/*", url=url) if not found or data is None else FilePart(found[1], data)


def _read_audio(audio: Json) -> FilePart | None:
    if not isinstance(audio, dict):
        return None
    data, written = _decoded(audio.get("data")), audio.get("format")
    if data is None or not isinstance(written, str):
        return None
    return FilePart(f"audio/{'mpeg' if written == 'mp3' else written}", data)


def _read_video(video: Json) -> FilePart | None:
    data = _decoded(video.get("data")) if isinstance(video, dict) else None
    return None if data is None else FilePart("video/mp4", data)


def _corrected(part: FilePart, own: Mapping[str, Json]) -> FilePart:
    media_type = own.get("media_type")
    url = own.get("url", part.url)
    name = own.get("name")
    return FilePart(
        media_type if isinstance(media_type, str) else part.media_type,
        _decoded(own["data"]) if "data" in own else part.data,
        url if isinstance(url, str) else None,
        name if isinstance(name, str) else None,
    )


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decoded(text: Json) -> bytes | None:
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
