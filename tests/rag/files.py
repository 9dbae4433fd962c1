"""Files of the kinds that are read, made by hand so that nothing but the reader is tried."""

import io
import zipfile
from collections.abc import Mapping, Sequence

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
STYLES = (
    f'<w:styles {WORD}><w:style w:styleId="T1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Z2"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>'
    "</w:style>"
    "</w:styles>"
)


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return made.getvalue()


def paragraph(text: str, style: str = "", *, listed: bool = False) -> str:
    about = f'<w:pStyle w:val="{style}"/>' if style else ""
    about += '<w:numPr><w:ilvl w:val="0"/></w:numPr>' if listed else ""
    return f"<w:p><w:pPr>{about}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def word(*blocks: str) -> bytes:
    body = f"<w:document {WORD}><w:body>{''.join(blocks)}</w:body></w:document>"
    return archive({"word/document.xml": body, "word/styles.xml": STYLES})


def slides(texts: Mapping[int, Sequence[str]]) -> bytes:
    """Make slides; the first text of each is its title."""
    parts = {}
    for number, (title, *rest) in texts.items():
        shapes = (
            f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>{said(title)}</p:sp>'
        )
        shapes += "".join(f"<p:sp>{said(text)}</p:sp>" for text in rest)
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {SLIDE}>{shapes}</p:sld>"
    return archive(parts)


def said(text: str) -> str:
    return f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>"


def pdf(pages: Sequence[str]) -> bytes:
    """Make a PDF of ASCII texts, one line a page; an empty text is a page without any."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
    ]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * n} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> "
            ">> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    begun = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    made += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    return made + f"startxref\n{begun}\n%%EOF\n".encode()
