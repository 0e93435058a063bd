"""Checks of the machine: memory, clock, proxies, certificates, and a place for a log."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .check_rows import Row, fine, notice, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "check_certificates",
    "check_clock",
    "check_log",
    "check_memory",
    "check_proxies",
    "free_memory",
    "host_of",
]

_LOW_BYTES = 400_000_000
_GROUP = Path("/sys/fs/cgroup")


def check_memory() -> Iterable[Row]:
    """How much memory is left."""
    free = free_memory()
    if free is None:
        return
    told = f"{free / 1e9:,.1f} GB free"
    if free < _LOW_BYTES:
        yield notice("memory", told, "Shut down kernels that are not needed.")
    else:
        yield fine("memory", told)


def free_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not tell."""
    found = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # "max" where there is no limit
        limit = int((_GROUP / "memory.max").read_text("ascii"))
        found.append(limit - int((_GROUP / "memory.current").read_text("ascii")))
    return max(0, min(found)) if found else None


def check_clock() -> Iterable[Row]:
    """Whether the clock can be right: certificates are refused where it is not."""
    newest = Path(__file__).stat().st_mtime
    if time() < newest - 86400:
        yield wrong("clock", "it is behind: this package's files are of the future",
                    "Set the clock: servers' certificates are refused.")  # fmt: skip
    else:
        yield fine("clock", "plausible")


def check_proxies() -> Iterable[Row]:
    """Proxies of the environment, by their hosts, and whether this machine is spared."""
    told = []
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        value = os.environ.get(name) or os.environ.get(name.lower())
        if value:
            told.append(f"{name} leads to {host_of(value)}")
    if not told:
        yield fine("proxies", "none")
        return
    spared = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    if "localhost" in spared or spared.strip() == "*":
        yield fine("proxies", "; ".join(told))
    else:
        yield notice(
            "proxies", f"{'; '.join(told)}: models on this machine would be asked through it",
            "Set NO_PROXY=localhost,127.0.0.1",
        )  # fmt: skip


def host_of(address: str) -> str:
    """The host of an address: what else it holds may be a password.

    Examples
    --------
    >>> host_of("http://ann:secret@proxy.example:8080"), host_of("[")
    ('proxy.example', 'no host')
    """
    with suppress(ValueError):
        found = urlsplit(address if "://" in address else f"//{address}").hostname
        return found or "no host"
    return "no host"


def check_certificates() -> Iterable[Row]:
    """Whether files of certificates that are named are there."""
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR"):
        value = os.environ.get(name)
        if value and not os.path.exists(value):
            yield wrong("certificates", f"{name} names a file that is not there",
                        f"Unset {name}, or mend it: every request fails.")  # fmt: skip


def check_log() -> Iterable[Row]:
    """The place where runs are kept."""
    from ..core.config import options
    from ..core.errors import ConfigurationError
    from ..runlog.targets import target_of
    from .checks_places import log_place

    if not options.log:
        yield fine("log", "off: runs are not kept")
        return
    try:
        target = target_of(options.log)
    except ConfigurationError as error:
        yield wrong("log", str(error), "`rl.options.log = None` keeps none.")
        return
    if target.is_file:
        yield from log_place(Path(target.address).parent)
    else:
        yield fine("log", f"a database: {target.shown}")
