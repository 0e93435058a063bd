"""Tool servers: descriptions, sessions with them, and serving robots to others.

The Model Context Protocol lets programs offer tools, resources and prompts to each other.

>>> from robotlab_nb.mcp import Server
>>> Server("files", command="npx", args=["-y", "@modelcontextprotocol/server-filesystem", "."])
<Server files: npx -y @modelcontextprotocol/server-filesystem .>

The public names are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
