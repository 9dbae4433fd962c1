"""The doors of a notebook: `%%chat`, `%chat`, completion."""
