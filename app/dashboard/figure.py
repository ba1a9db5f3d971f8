"""Shows a figure on a page: one small component that comes with the page itself.

Streamlit's own ways of showing SVG either drop it (``st.html``) or cut it off from the
page's colours (``st.image``). This one puts it into a shadow root and tells the page what
was clicked. It gets figures only, whose texts :mod:`app.dashboard.drawing` has escaped.
"""

from collections.abc import Callable
from typing import Any

from app.dashboard.drawing import Figure

_CSS = """
.frame { overflow: auto; color: var(--st-text-color); max-height: 44rem; }
.frame:focus-visible { outline: 2px solid var(--st-primary-color); }
.frame svg { display: block; height: auto; }
.frame.fits svg { width: 100%; }
.frame.more { mask-image: linear-gradient(to right, #000 calc(100% - 2.5rem), transparent); }
.hint { display: none; font-size: 0.85rem; opacity: 0.75; }
.frame.more + .hint { display: block; }
"""

_JS = """
export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  let frame = parentElement.querySelector(".frame");
  if (!frame) {
    frame = document.createElement("div");
    parentElement.appendChild(frame);
    const hint = document.createElement("div");
    hint.className = "hint";
    hint.textContent = data.hint;
    // Screen readers get it in the drawing's label.
    hint.setAttribute("aria-hidden", "true");
    parentElement.appendChild(hint);
  }
  frame.className = data.scrolls ? "frame" : "frame fits";
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  if (frame.dataset.shown !== data.svg) {
    frame.innerHTML = data.svg;
    frame.dataset.shown = data.svg;
    const svg = frame.querySelector("svg");
    if (svg && !data.scrolls) {
      svg.style.maxWidth = data.width + "px";
      svg.style.minWidth = Math.min(data.width, data.least) + "px";
    }
  }
  const pick = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    const target = event.target.closest("[data-pick]");
    if (!target) return;
    event.preventDefault();
    setTriggerValue("picked", target.dataset.pick);
  };
  // The right edge fades where the drawing goes on.
  const mark = () => {
    const more = frame.scrollWidth - frame.clientWidth - frame.scrollLeft > 4;
    frame.classList.toggle("more", more);
    frame.setAttribute("aria-label", more ? `${data.title}. ${data.hint}` : data.title);
  };
  mark();
  frame.onscroll = mark;
  requestAnimationFrame(mark);
  if (!frame.dataset.watched) {
    frame.dataset.watched = "yes";
    new ResizeObserver(() => frame.onscroll()).observe(frame);
  }
  frame.onclick = pick;
  frame.onkeydown = pick;
}
"""

LEAST_WIDTH = 620
"""Pixels below which a figure is not shrunk but scrolled: its letters stay readable."""

HINT = "Scroll sideways: the drawing goes on to the right."
"""What a drawing says that is wider than its place."""

_mounted: Any = None


def mount(
    figure: Figure,
    *,
    key: str,
    scrolls: bool = False,
    least: int = LEAST_WIDTH,
    on_pick: Callable[[str], None] | None = None,
) -> None:
    """Puts a figure on the page.

    Args:
        figure: What to show.
        key: Tells figures of a page apart.
        scrolls: Whether it keeps its size and is scrolled, rather than fitted to the page.
        least: Pixels below which it is not shrunk but scrolled.
        on_pick: Called with the ``pick`` of what was clicked, before the page runs again.
    """
    import streamlit

    global _mounted
    if _mounted is None:
        _mounted = streamlit.components.v2.component("masgraph.figure", css=_CSS, js=_JS)

    def picked() -> None:
        found = streamlit.session_state[key].get("picked")
        if on_pick is not None and found is not None:
            on_pick(str(found))

    _mounted(
        key=key,
        data={
            "svg": figure.inline(),
            "title": figure.title,
            "hint": HINT,
            "width": figure.width,
            "least": least,
            "scrolls": scrolls,
        },
        on_picked_change=picked,
    )
