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


def load_ipython_extension(shell: object) -> None:
    """Add ``%%robot`` and its kin: what ``%load_ext robotlab_nb`` calls."""
    _magics().load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take them away again: what ``%unload_ext robotlab_nb`` calls."""
    _magics().unload(shell)


def _magics():  # type: ignore[no-untyped-def]
    from importlib import import_module

    return import_module(f"{__name__}.notebook.magics")
