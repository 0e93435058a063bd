"""For tests of what you build: models and servers that answer as told, and what a model must do.

>>> from robotlab_nb.testing import ModelServer
>>> with ModelServer() as server:
...     server.base_url
'http://127.0.0.1:.../v1'

The public names are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
