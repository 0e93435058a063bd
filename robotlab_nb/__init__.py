"""robotlab_nb: language models as robots and networks of robots, made for notebooks.

>>> import robotlab_nb as rl
>>> bot = rl.build("assistant", system_prompt="Be brief.")
>>> bot.run("Hello").simulated
True

The public names are listed in ``__init__.pyi`` and loaded on first use.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
