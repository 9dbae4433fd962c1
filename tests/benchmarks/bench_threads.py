"""Everything that threads promise, in one run: both stores, the tree, switching, and the search.

python -m tests.benchmarks.bench_threads
"""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks import bench_find, bench_storage, bench_switch, bench_tree


def main() -> int:
    """Run one after the other; 1 when the tree, a switch or the search is over its bound."""
    with tempfile.TemporaryDirectory() as folder:
        bench_storage.main(Path(folder))
    return bench_tree.main() | bench_switch.main() | bench_find.main()


if __name__ == "__main__":
    sys.exit(main())
