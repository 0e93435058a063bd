"""The lines of a timeline stand at round times, whatever a sum's last bit is."""

from __future__ import annotations

import pytest

from robotlab_nb.display.timeline import _Scale


@pytest.mark.parametrize("total", [0.6, 0.6 + 1e-12, 0.6 - 1e-12, 0.1 + 0.2 + 0.3])
def test_lines_do_not_depend_on_a_sums_last_bit(total: float) -> None:
    assert _Scale(total).lines() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
