"""Checks of what will answer: option files, the default model, keys, addresses, prices.

Tells names of variables and of hosts. No value of a key is read out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError
from .check_rows import Row, fine, notice, wrong
from .checks_machine import host_of
from .checks_packages import release_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "check_addresses",
    "check_default_model",
    "check_keys",
    "check_option_files",
    "check_prices",
]

#: variables that send requests for a provider elsewhere
_BASES = (
    "OPENAI_BASE_URL", "OPENAI_API_BASE", "OLLAMA_API_BASE", "OLLAMA_HOST", "HOSTED_VLLM_API_BASE",
    "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "AZURE_API_BASE",
)  # fmt: skip
_OLD_DAYS = 180
#: providers that are asked without litellm
_DIRECT = ("openai", "ollama", "hosted_vllm", "simulated")


def check_option_files() -> Iterable[Row]:
    """The option files and variables in force, and whether they have changed since."""
    from ..core.config import options
    from ..core.option_files import load

    try:
        now = load()
        known = options.levels()[:-1]
    except ConfigurationError as error:
        yield wrong("options", str(error), "Mend it, then `rl.options.reload()`.")
        return
    told = [
        f"{origin} ({len(level):,} set)" if origin.startswith("file") else origin
        for origin, level in now
    ]
    if options.level():
        told.append(f"rl.options ({len(options.level()):,} set)")
    if now != known:
        yield notice(
            "options", f"{', '.join(told) or 'none'}: changed since they were read",
            "`rl.options.reload()`",
        )  # fmt: skip
    else:
        yield fine("options", ", ".join(told) or "none set: the defaults hold")


def check_default_model() -> Iterable[Row]:
    """What answers a robot that names no model, and whether it can."""
    from ..core.config import options, resolve

    named = resolve(options.levels()).values_["model"]
    if named is None:
        yield fine("default model", "simulated/rules, simulated: no model is named")
        return
    name = named if isinstance(named, str) else getattr(named, "name", type(named).__name__)
    refusal = _refusal(named)
    if refusal is None:
        yield fine("default model", str(name))
    else:
        yield wrong("default model", refusal, "Set the key, or `rl.options.model = None`.")


def _refusal(named: object) -> str | None:
    """Why the default model cannot be asked.

    Of a provider that is reached by litellm only the key is looked for: making such a model would
    begin to import that library.
    """
    from ..core.config import options, resolve
    from ..models.key_refs import PROVIDERS, default_key

    values = resolve(options.levels()).values_
    provider = named.partition("/")[0] if isinstance(named, str) else ""
    own = values["api_base"] is not None or values["api_key"] is not None
    if provider in PROVIDERS and not own and provider not in _DIRECT:
        reference = default_key(provider)
        if reference is not None and not reference.get():
            return f"no key for {named}: {reference.name} is not set"
        return None
    from ..robot.in_force import in_force

    try:
        in_force(()).model.check()
    except ConfigurationError as error:
        return str(error)
    return None


def check_keys() -> Iterable[Row]:
    """The variables that hold keys, by provider, and those that hold one in quotation marks."""
    from ..models.key_refs import PROVIDERS, default_key, remember

    found: dict[str, str] = {}
    own = os.environ.get("ROBOTLAB_API_KEY", "").strip()
    if own:
        remember(own, "ROBOTLAB_API_KEY")
    for provider in sorted(PROVIDERS):
        reference = default_key(provider)
        if reference is None:
            continue
        for name in reference.names:
            if os.environ.get(name, "").strip():
                found.setdefault(name, provider)
                # Registered, without quotation marks too: rows are masked before they are shown.
                reference.get()
                remember(os.environ[name].strip().strip("\"'"), name)
                break
    quoted = [name for name in found if os.environ[name].strip()[:1] in "\"'"]
    if quoted:
        yield wrong(
            "keys", f"{', '.join(quoted)}: the value is in quotation marks, which are sent along",
            "Set the variable without them.",
        )  # fmt: skip
    if found:
        yield fine("keys", ", ".join(f"{name} ({who})" for name, who in sorted(found.items())))
    else:
        yield fine(
            "keys", "none in the environment: answers are simulated, or come from your machine"
        )


def check_addresses() -> Iterable[Row]:
    """Variables that send requests to other hosts."""
    told = []
    for name in _BASES:
        value = os.environ.get(name, "").strip()
        if value:
            told.append(f"{name} leads to {host_of(value)}")
    if told:
        yield notice("addresses", "; ".join(told), "Unset what is not meant.")


def check_prices() -> Iterable[Row]:
    """The age of the price file."""
    from time import time

    from ..models.price_file import price_file

    path = price_file()
    if path is None:
        yield notice("prices", "no price file: litellm is not installed, costs are unknown",
                     "`pip install litellm`")  # fmt: skip
        return
    days = int((time() - path.stat().st_mtime) // 86400)
    about = f"litellm's price file, installed {_ago(days)}"
    if days > _OLD_DAYS:
        yield notice("prices", f"{about}: new models have no price", "`pip install -U litellm`")
    else:
        yield fine("prices", f"{about} (litellm {release_of('litellm')})")


def _ago(days: int) -> str:
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{days:,} days ago"
