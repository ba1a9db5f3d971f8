"""Sentences for packages that are installed and cannot be loaded."""

import importlib.util
import subprocess
import sys

import pytest

from graphstore.errors import unloadable


def test_no_room_for_a_package_names_the_way_out():
    said = unloadable("POT", ImportError("x.so: cannot allocate memory in static TLS block"))
    assert "POT is installed and cannot be loaded" in said
    assert "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384" in said
    assert "GLIBC" not in unloadable("POT", ImportError("undefined symbol"))


@pytest.mark.skipif(importlib.util.find_spec("ot") is None, reason="needs the extra ot")
def test_a_store_beside_packages_that_took_the_room(tmp_path):
    """Whether there is room depends on the machine: a result, or the sentence."""
    code = (
        "import ot.gromov, sklearn.cluster\n"
        "from graphstore.store import open_store\n"
        "from graphstore.errors import StoreError\n"
        "try:\n"
        f"    open_store({str(tmp_path / 's.db')!r}).close()\n"
        "except StoreError as error:\n"
        "    assert 'GLIBC_TUNABLES' in str(error), error\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
