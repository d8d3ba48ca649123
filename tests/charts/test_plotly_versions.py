"""Figures in another process, whose plotly may be another release."""

import json
import os
import subprocess

import every_chart
import pytest
from lab_server import PYTHON, ROOT


@pytest.mark.system
def test_every_chart_is_the_same_figure_elsewhere():
    """Whatever the release of plotly and the order of sets: the same traces, the same layout."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1"}
    command = [PYTHON, every_chart.__file__]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(every_chart.described()))
