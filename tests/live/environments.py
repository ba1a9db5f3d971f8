"""Where each framework lives: an environment of its own, made by  make live  in .live/."""

import os
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(os.environ.get("MASGRAPH_LIVE", Path(__file__).parents[2] / ".live"))

PACKAGES = {
    "langgraph": ("langgraph==1.2.24", "langchain-core==1.8.3"),
    "autogen": ("autogen-agentchat==0.7.5", "autogen-ext==0.7.5"),
    "openai_agents": ("openai-agents==0.24.0",),
    "pydantic_ai": ("pydantic-ai-slim==2.68.0",),
    "smolagents": ("smolagents==1.26.0",),
}
"""What to install, by team. Newer versions may be tried: that is what these tests are for."""

MODULES = {
    "langgraph": "langgraph",
    "autogen": "autogen_agentchat",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
}


def python_of(name: str) -> str | None:
    """The interpreter that has a framework: of its environment, else this one.

    Returns:
        None where neither has it.
    """
    own = FOLDER / name / "bin" / "python"
    for python in (str(own), sys.executable):
        spec = f"importlib.util.find_spec({MODULES[name]!r})"
        look = f"import importlib.util, sys; sys.exit(not {spec})"
        if Path(python).exists() and subprocess.run([python, "-c", look]).returncode == 0:
            return python
    return None


def install_command(name: str) -> str:
    """How to get a framework, as a line for the shell."""
    where = FOLDER / name
    packages = " ".join(PACKAGES[name])
    return f"python -m venv {where} && {where}/bin/pip install {packages}"


def main() -> None:
    """Makes the environments that are missing."""
    for name, packages in PACKAGES.items():
        if python_of(name) is None:
            sys.stderr.write(f"installing {name}\n")
            venv.create(FOLDER / name, with_pip=True)
            pip = FOLDER / name / "bin" / "pip"
            subprocess.run([pip, "install", "--quiet", *packages], check=True)


if __name__ == "__main__":
    main()
