"""The doors of a notebook: `%%chat`, `%chat`, `%rag`, `%%jan`, completion."""
