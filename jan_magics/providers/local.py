"""Start a llama-server on loopback for a GGUF file, and end it with the kernel."""

from jan_magics.providers.openai import OpenAIProvider


class LocalServer:
    """Hold the server."""


class LocalProvider(OpenAIProvider):
    """Speak with it."""

    def __init__(self, server: LocalServer) -> None:
        super().__init__("local", "http://127.0.0.1:1")
