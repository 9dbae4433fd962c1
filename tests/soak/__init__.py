"""What is done to stores and turns on purpose: small in the suite, large where JAN_SOAK says so."""

import os

SOAK = "JAN_SOAK" in os.environ
"""Whether there is time: `make soak` sets it."""
