"""Names of controls for those who hear the page: viser writes a slider's name beside it, but ties it to neither its
thumb nor its field of numbers. A few lines on the page do that, whenever controls appear."""

from __future__ import annotations

_PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_SCRIPT = """
if (!window.cayleyNames) {
  const name = () => {
    document.documentElement.lang ||= 'en';
    if (document.title !== 'Cayley studio') document.title = 'Cayley studio';
    for (const label of document.querySelectorAll('label[for]')) {
      const control = document.getElementById(label.htmlFor);
      const parts = control ? [control, ...(control.parentElement?.querySelectorAll('input') ?? []),
                               ...control.querySelectorAll('[role=slider]')] : [];
      for (const part of parts) {
        const spoken = part.matches('[role=slider], input') && !part.labels?.length;
        if (spoken && part.getAttribute('aria-label') !== label.textContent)
          part.setAttribute('aria-label', label.textContent);
      }
    }
  };
  window.cayleyNames = new MutationObserver(name);
  window.cayleyNames.observe(document.body, {childList: true, subtree: true});
  name();
}
"""


def spoken_names() -> str:
    """HTML that is not seen, and names what is."""
    script = " ".join(_SCRIPT.split()).replace('"', "&quot;")
    return f'<img alt="" hidden src="{_PIXEL}" onload="{script}">'
