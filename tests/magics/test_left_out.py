"""A parameter that a server refuses: the turn goes on without it, and the footer says so."""

import json
from pathlib import Path

from tests.kernel import running_kernel
from tests.providers.loopback import http
from tests.providers.serving import serving_here

GOOD = b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\n'
REFUSED = http(
    b'{"error":{"message":"Unrecognized request argument: frobs"}}',
    status=400,
    kind="application/json",
)


def test_the_footer_says_what_was_left_out(tmp_path: Path) -> None:
    with serving_here(REFUSED, http(GOOD)) as server, running_kernel(tmp_path) as kernel:
        kernel.ok("%load_ext jan_magics")
        ran = kernel.ok(f"%%chat {server.address}#m -P frobs=1 -P reasoning=low\nhi")
        shown = str(ran.displays[-1]["text/plain"])
    assert "hello" in shown
    assert "reasoning was left out: this provider has no switch for it" in shown
    assert "frobs was left out: 127.0.0.1:" in shown
    assert ["frobs" in json.loads(body) for body in server.bodies] == [True, False]
