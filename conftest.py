"""Tests and docstrings' examples write to no log of whoever runs them, unless they name one."""

from __future__ import annotations

import os

os.environ["ROBOTLAB_NB_LOG"] = "off"
