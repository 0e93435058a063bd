"""From what a person writes as ``model=`` to a model that can be asked.

It decides which way a request will go (direct, litellm, simulated) and where its key is. It
sends nothing, and imports no way but the one that is taken.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakValueDictionary

from ..core.errors import ConfigurationError, near
from .key_refs import PROVIDERS, KeyRef, default_key
from .protocol import Model
from .simulated import READABLE_PACE, SimulatedModel

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["resolve"]

#: providers on whose wire we speak ourselves
_DIRECT = ("openai", "ollama", "hosted_vllm")
_OPENAI = "https://api.openai.com/v1"
_OLLAMA = "http://localhost:11434/v1"
#: a model behind an address that somebody named, of no provider
_CUSTOM = "custom"
#: what people call a provider -> its name before a slash
_EVERYDAY = {
    "amazon": "bedrock",
    "aws": "bedrock",
    "azure_openai": "azure",
    "claude": "anthropic",
    "fireworks": "fireworks_ai",
    "google": "gemini",
    "grok": "xai",
    "hf": "huggingface",
    "kimi": "moonshot",
    "lmstudio": "lm_studio",
    "mistralai": "mistral",
    "nvidia": "nvidia_nim",
    "qwen": "dashscope",
    "together": "together_ai",
    "vertex": "vertex_ai",
    "x-ai": "xai",
}

_BASES = (
    "OPENAI_BASE_URL", "OPENAI_API_BASE", "OLLAMA_API_BASE", "OLLAMA_HOST", "HOSTED_VLLM_API_BASE",
)  # fmt: skip
# Reading os.environ costs a microsecond for each name that is not set; the dict beneath it, where
# there is one, a twentieth. A changed address must be noticed, and building a robot must be cheap.
_environ: Any = getattr(os.environ, "_data", os.environ)
_base: Any = _environ.get
_base_keys: tuple[Any, ...] = (
    tuple(map(os.environ.encodekey, _BASES)) if _environ is not os.environ else _BASES
)

_simulated: SimulatedModel | None = None
#: models by bare name, for the addresses in _seen
_by_name: dict[str, Model] = {}
_seen: list[Any] = []
#: models by all that was said, as long as somebody has them; keys appear as digests only
_by_all: WeakValueDictionary[tuple[Any, ...], Model] = WeakValueDictionary()


def resolve(
    model: str | Model | Callable[..., Any] | None = None,
    *,
    provider: str | None = None,
    api_base: str | None = None,
    api_key: str | KeyRef | None = None,
    via: str | None = None,
) -> Model:
    """Find the model that is meant.

    Parameters
    ----------
    model : str, Model, callable or None
        ``provider/name``; a bare name that the price file lists; ``"simulated"``; ``"local"`` or
        ``"local/weights.gguf"``, which run in this process; a model, which is passed through; a
        function of the request, which answers itself; None: simulated rules.
    provider : str, optional
        Whose model it is, where the name does not say.
    api_base : str, optional
        The base URL of an OpenAI-compatible server. A provider's usual key is not sent there:
        name it by ``api_key=`` where it is meant.
    api_key : str, optional
        A key, or the name of an environment variable, read at each call.
    via : {"direct", "litellm"}, optional
        Which way to go. By default direct for ``openai``, ``ollama``, ``hosted_vllm`` and any
        ``api_base``, and litellm for every other provider.

    Returns
    -------
    Model
        The same one for the same words.

    Raises
    ------
    ConfigurationError
        When the name means no model; names that are near are listed.

    Examples
    --------
    >>> resolve("openai/gpt-5-mini").name
    'openai/gpt-5-mini'
    >>> resolve().name
    'simulated/rules'
    """
    if provider is None and api_base is None and api_key is None and via is None:
        if model is None:
            return _rules()
        if model.__class__ is str:
            global _seen
            bases = list(map(_base, _base_keys))
            if bases != _seen:
                _by_name.clear()
                _seen = bases
            kept = _by_name.get(model)
            if kept is None:
                kept = _by_name[model] = _named(model, None, None, None, None)
            return kept
    if isinstance(model, Model):
        return model
    if callable(model) and not isinstance(model, type):
        return SimulatedModel(model, pace=READABLE_PACE)
    if model is None:
        raise ConfigurationError("there is a provider or an address, and no model", hint=_WRITE)
    if not isinstance(model, str):
        what = model.__name__ if isinstance(model, type) else type(model).__name__
        raise ConfigurationError(f"model= cannot be {what}", hint=_WRITE)
    for name, value in (("provider", provider), ("api_base", api_base), ("via", via)):
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise ConfigurationError(f"{name}={value!r} is no {name}", hint=_WRITE)
    key = KeyRef.of(api_key)
    said = (model, provider, api_base, via, _named_key(key), *map(_base, _base_keys))
    kept = _by_all.get(said)
    if kept is None:
        kept = _by_all[said] = _named(model, provider, api_base, key, via)
    return kept


_WRITE = (
    "Write provider/name, 'openai/gpt-5-mini' say; or model='simulated' to go on without a key."
)


def _rules() -> SimulatedModel:
    global _simulated
    if _simulated is None:
        _simulated = SimulatedModel(pace=READABLE_PACE)
    return _simulated


def _named_key(key: KeyRef | None) -> Any:
    """What tells keys apart without being one."""
    if key is None or key.names:
        return key and key.names
    return hashlib.sha256((key.get() or "").encode("utf-8", "surrogatepass")).digest()


def _named(
    model: str, provider: str | None, api_base: str | None, key: KeyRef | None, via: str | None
) -> Model:
    """Make a model from words."""
    text = model.strip()
    if not text:
        raise ConfigurationError("model= is empty", hint=_WRITE)
    if via not in (None, "direct", "litellm"):
        raise ConfigurationError(f"via={via!r} is no way", hint=near(via, ("direct", "litellm")))
    if api_base is None and via is None and provider in (None, "local"):
        first, _, rest = text.partition("/")
        if first == "local" or provider == "local":
            from .local_model import LocalModel

            return LocalModel(rest if first == "local" else text)
    owner, name = _owner_of(text, provider and provider.strip(), api_base is not None)
    if owner == "simulated":
        if name not in ("", "rules"):
            raise ConfigurationError(
                f"{text!r} cannot be made from its name",
                hint="Pass SimulatedModel([...]) for a script, or model='simulated'.",
            )
        return _rules()
    if not name:
        raise ConfigurationError(f"the model {text!r} ends after its provider", hint=_WRITE)
    if via != "litellm" and (api_base is not None or owner in _DIRECT):
        return _direct(owner, name, api_base, key)
    if via == "direct":
        raise ConfigurationError(
            f"{owner}/{name} cannot be asked directly",
            hint="Pass the api_base= of its OpenAI-compatible server, or leave via= out.",
        )
    return _by_litellm(owner, name, api_base, key)


# -- whose it is -----------------------------------------------------------------------------


def _owner_of(text: str, provider: str | None, at_address: bool) -> tuple[str, str]:
    """The provider, and the name that it knows the model by."""
    prefix, slash, rest = text.partition("/")
    rest = rest.strip()
    if text == "simulated":
        return "simulated", ""
    if provider is not None:
        if not (at_address or _is_provider(provider)):
            raise _no_provider(provider, text)
        return provider, rest if slash and prefix == provider else text
    if slash and _is_provider(prefix):
        return prefix, rest
    if at_address:
        return _CUSTOM, text
    if slash:
        raise _no_provider(prefix, text)
    from .prices import near_models, provider_of

    found = provider_of(text)
    if found is None:
        close = near_models(text)
        listed = f"Near names: {', '.join(close)}. " if close else ""
        raise ConfigurationError(
            f"no provider is known for the model {text!r}", hint=listed + _WRITE
        )
    return found, text


def _is_provider(name: str) -> bool:
    if name == "simulated" or (name in PROVIDERS and name != _CUSTOM):
        return True
    from .prices import has_provider

    return has_provider(name)


def _no_provider(name: str, text: str) -> ConfigurationError:
    lower = name.lower()
    meant = _EVERYDAY.get(lower) or (lower if lower in PROVIDERS else None)
    guess = f"Did you mean {meant!r}?" if meant else near(name, sorted(PROVIDERS))
    where = f" (in {text!r})" if text != name else ""
    return ConfigurationError(
        f"no provider is called {name!r}{where}",
        hint=f"{guess} Write provider/name, or pass api_base= for a server of your own.",
    )


# -- which way -------------------------------------------------------------------------------


def _direct(owner: str, name: str, api_base: str | None, key: KeyRef | None) -> Model:
    from .direct import DirectModel

    if key is not None:
        base = _address(owner, name, api_base)
        return DirectModel(name, provider=owner, api_base=base, api_key=key, key_name=key.name)
    if api_base is not None:
        # A key goes to nobody but its own provider, unless somebody says so.
        return DirectModel(name, provider=owner, api_base=_address(owner, name, api_base))
    base = _address(owner, name, None)
    variable = f"{owner.upper()}_API_KEY"
    needed = urlsplit(base).hostname == urlsplit(_OPENAI).hostname
    return DirectModel(
        name,
        provider=owner,
        api_base=base,
        api_key=KeyRef(variable),
        key_name=variable if needed else None,
    )


def _address(owner: str, name: str, api_base: str | None) -> str:
    get = os.environ.get
    if owner == "ollama":
        return _ollama(api_base or get("OLLAMA_API_BASE") or get("OLLAMA_HOST") or _OLLAMA)
    if api_base is not None:
        return api_base
    if owner == "openai":
        return get("OPENAI_BASE_URL") or get("OPENAI_API_BASE") or _OPENAI
    base = get("HOSTED_VLLM_API_BASE")
    if not base:
        raise ConfigurationError(
            f"no address for {owner}/{name}",
            hint="Set HOSTED_VLLM_API_BASE, or pass api_base=.",
        )
    return base


def _ollama(base: str) -> str:
    """An address as Ollama's own tools take it, made whole."""
    base = base.strip()
    bare = "://" not in base
    parts = urlsplit(f"http://{base}" if bare else base)
    place = parts.netloc
    if bare and not place.rpartition(":")[2].isdigit():
        place = f"{place}:11434"
    if place.startswith("0.0.0.0"):  # where it listens is not where to call it
        place = place.replace("0.0.0.0", "127.0.0.1", 1)
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(netloc=place, path=path or "/v1"))


def _by_litellm(owner: str, name: str, api_base: str | None, key: KeyRef | None) -> Model:
    if owner == _CUSTOM:
        raise ConfigurationError(
            f"litellm must know whose wire {name!r} speaks", hint="Pass provider='openai', say."
        )
    from .litellm import LiteLLMModel

    made = LiteLLMModel(f"{owner}/{name}", api_base=api_base, api_key=key)
    reference = key or default_key(owner)
    if reference is None or reference.get():
        made.warm()
    return made
