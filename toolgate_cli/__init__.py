"""toolgate: the gate between AI-agent workflows and the tools they call."""

__version__ = "0.1.0"
