"""Figures in another process, perhaps with another release of plotly."""

import json
import os
import subprocess

import every_chart
import pytest
from lab_server import PYTHON, ROOT


@pytest.mark.system
def test_every_chart_is_the_same_figure_elsewhere():
    """Traces and layout don't depend on plotly's release and the order of sets."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1"}
    command = [PYTHON, every_chart.__file__]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(every_chart.described()))
