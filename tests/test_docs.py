"""The documentation: the site builds without warnings and without a network, its links lead somewhere, its figures and
pictures are true.

The examples of the pages are doctests, which pytest collects from docs/ itself.
"""

import ast
import fcntl
import html
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import cayley

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MEASURED = {"reaching", "hopping", "scale", "studio", "studio_quadruped", "studio_closed"}  # by benchmarks, learning
PICTURES = sorted({path.stem for path in (DOCS / "pictures").glob("*.png")} - MEASURED)


def module_at(path):
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


DRAWN_BY_PAGES = {name: page for page, pictures in module_at(DOCS / "conftest.py").pictures_of_pages().items()
                  for name, _ in pictures}


class Anchors(HTMLParser):
    """What a page can be linked at, what it links to, and what it needs to be shown."""

    def __init__(self, page):
        super().__init__()
        self.names, self.links, self.needed, self.copied, self.listed = set(), [], [], [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.update(filter(None, (given.get("id"), given.get("name"))))
        self.listed += [given["id"]] if "doc-heading" in given.get("class", "") and "id" in given else []
        self.copied += [given["data-copy"]] if "data-copy" in given else []
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe") and given.get("src"):
            self.needed.append(given["src"])
        elif tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.needed.append(given["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory, worker_id):
    """The folder of the site, and what was said while it was built; workers of one run share it."""
    pytest.importorskip("mkdocs", reason="the generator of the site is not installed")
    own = tmp_path_factory.getbasetemp()
    shared = (own if worker_id == "master" else own.parent) / "documentation"
    shared.mkdir(exist_ok=True)
    folder, said = shared / "site", shared / "said.txt"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            done = subprocess.run([sys.executable, str(ROOT / "tools" / "docs.py"),
                                   str(folder)], capture_output=True, text=True)
            said.write_text(f"{done.stdout}{done.stderr}exit status {done.returncode}")
    return folder, said.read_text()


@pytest.fixture(scope="module")
def site(built):
    return {
        page.relative_to(built[0]).as_posix(): Anchors(page)
        for page in built[0].rglob("*.html") if page.name != "404.html"}


def test_the_site_builds_without_warnings(built):
    assert built[1].endswith("exit status 0") and "WARNING" not in built[1] and "ERROR" not in built[1], built[1]


def reference_blocks(folder):
    """For each page of the reference its headings, signatures, examples, boxes and paragraphs in order: what each is,
    and its text."""
    kinds = (r'<div class="(signature) highlight">.*?</pre>|<(pre)\b.*?</pre>|<(p|li)>.*?</\3>|<(h)\d.*?</h\d>|'
             r'<(table).*?</table>')
    for page in sorted((folder / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        yield page.name, [(found[found.lastindex], html.unescape(re.sub("<[^>]+>", "", found[0])))
                          for found in re.finditer(kinds, text, flags=re.DOTALL)]


def test_lists_of_arguments_are_tables_in_the_reference(built):
    """No list of arguments is a box of code or lines run together; `load` has types and defaults."""
    signatures = 0
    for page, blocks in reference_blocks(built[0]):
        names = set()
        for kind, text in blocks:
            if kind in ("signature", "h"):
                names = set(re.findall(r"(\w+)(?=[:,)=])", text)) if kind == "signature" else set()
                signatures += kind == "signature"
            elif kind in ("pre", "p", "li") and ">>>" not in text:
                listed = re.findall(r"^\s*((?:\w+, )*\w+) {2,}\S", text, flags=re.MULTILINE)
                assert not [one for one in listed if names & set(one.split(", "))], (page, text)
    assert signatures > 3000
    (tables, ) = ([text.split() for kind, text in blocks if kind == "table"]
                  for page, blocks in reference_blocks(built[0]) if page == "cayley.html")
    (load, ) = (words for words in tables if "floating_base" in words)
    assert load[:4] == ["Name", "Type", "Default", "Meaning"]
    assert load[4:8] == ["floating_base", "bool", "False", "the"]
    assert {"missing_mass", "trust", "arguments"} <= set(load)


def test_names_in_the_texts_of_the_site_are_links(built, site):
    """`cayley.simulation.simulate` leads to where it is described; the build fails for a name that does not exist."""
    unlinked = set()
    for page in built[0].rglob("*.html"):
        text = re.sub(r"<pre.*?</pre>|<a\b.*?</a>|<h\d.*?</h\d>|<title.*?</title>", "",
                      page.read_text(encoding="utf-8"), flags=re.DOTALL)
        unlinked |= set(re.findall(r"<code>(cayley\.\w+(?:\.\w+)+)", text))
    tools = module_at(ROOT / "tools" / "reference.py")
    assert tools.place("cayley.simulation.simulate") and tools.place("cayley.simulation.no_such_name") is None
    assert tools.place("arm.loops.close") == "reference/arm.loops.md#arm.loops.close"
    assert not unlinked


def test_every_page_is_reached_from_the_front_page(built, site):
    folder, reached, ahead = built[0].resolve(), set(), ["index.html"]
    while ahead:
        name = ahead.pop()
        if name in site and name not in reached:
            reached.add(name)
            inner = [unquote(urlsplit(link).path) for link in site[name].links if not urlsplit(link).netloc]
            ahead += [(folder / name).parent.joinpath(path).resolve().relative_to(folder).as_posix()
                      for path in inner if path]
    assert set(site) == reached, set(site) - reached


def test_classes_and_groups_begin_with_an_index_of_their_methods(built, site):
    for page in ("Mechanism", *(f"arm.{room}" for room in (
            "control", "loops", "configurations", "dexterity", "centroidal", "collision", "identification",
            "formulations", "pictures", "variants"))):
        text = (built[0] / "reference" / f"{page}.html").read_text(encoding="utf-8").replace("<wbr>", "")
        first = text.index("<h2") if page != "Mechanism" else len(text)
        listed = re.findall(r'<td><a href="([^"]*)"><code>(arm\.[\w.]+)</code></a></td>', text[:first])
        assert len(listed) >= (60 if page == "Mechanism" else 3), page
    room = cayley.load("panda").loops
    text = (built[0] / "reference" / "arm.loops.html").read_text(encoding="utf-8").replace("<wbr>", "")
    for name in ("close", "mobility", "forces", "actuated_motion", "switched"):
        assert hasattr(room, name) and f"<code>arm.loops.{name}</code></a></td>" in text, name


def test_every_page_is_in_the_site(site):
    for page in PAGES:
        relative = page.relative_to(DOCS)
        assert relative.with_name("index.html" if page.name == "README.md" else f"{page.stem}.html").as_posix() in site
    assert {
        "reference/cayley.html", "reference/cayley_dynamics_inverse.html",
        "reference/cayley_geometry_rotations.html"} <= set(site)


def test_every_page_is_in_the_one_list_once():
    """docs/README.md is the list that the site's navigation is made of."""
    page = (DOCS / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[[^\]]*\]\((\S+\.md)\)", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES if page != DOCS / "README.md")


def test_every_internal_link_leads_somewhere(built, site):
    folder, _ = built
    for name, page in site.items():
        for link in [*page.links, *page.needed]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
            assert target.resolve().exists(), f"{name} links to {link}, which is not there"
            if parts.fragment and target.suffix == ".html" and not parts.fragment.startswith("__"):
                anchors = site[target.resolve().relative_to(folder.resolve()).as_posix()].names
                assert unquote(parts.fragment) in anchors, f"{name} links to {link}, and that page has no such place"


def test_nothing_is_fetched_from_elsewhere(built, site):
    folder, _ = built
    for name, page in site.items():
        assert not [need for need in page.needed if urlsplit(need).netloc], name
    for style in folder.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", style.read_text(encoding="utf-8")), style


def test_equations_are_typeset_and_numbered_once(built, site):
    folder, _ = built
    theory = sorted((folder / "developers" / "theory").glob("*.html"))
    numbers = [
        number for page in theory
        for number in re.findall(r'<div class="equation" id="(eq-[a-z]+-\d+)">', page.read_text())]
    assert len(numbers) == len(set(numbers)) > 50
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text and r"\tag" not in text, page


def test_equations_that_are_cited_exist():
    """(K-3) in a page or a docstring is an equation of a theory page."""
    known = {
        number
        for page in (DOCS / "developers" / "theory").glob("*.md")
        for number in re.findall(r"\\tag\{([^}]*)\}", page.read_text())}
    cited = {number for text in [*PAGES, *(ROOT / "src").rglob("*.py")]
             for number in re.findall(r"\(([CRSTMKIDFL]-\d+)\)", text.read_text(encoding="utf-8"))}
    assert cited and cited <= known, cited - known


def test_equations_cited_in_docstrings_are_links(site):
    for package, link in (("dynamics_inverse", "inverse_dynamics.html#eq-d-2"),
                          ("kinematics_jacobians", "kinematics.html#eq-k-3"),
                          ("geometry_rotations", "rotations.html#eq-r-1"),
                          ("dynamics_inertia_matrix", "inertia_matrix.html#eq-f-1")):
        pages = [page for name, page in site.items() if re.match(rf"reference/cayley_{package}[.]", name)]
        assert any(f"../developers/theory/{link}" in page.links for page in pages), package


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_are_no_wider_than_their_column(page):
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    wide = [line for block in blocks for line in block.split("\n") if len(line) > 88]
    assert not wide, wide


def test_the_page_on_installing_names_every_extra_that_users_install():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs/start/installing.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE))
    assert named == extras.keys() - {"test", "bench", "docs", "dev"}
    used = "".join(path.read_text(encoding="utf-8") for folder in ("src", "docs") for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".py", ".md"))
    for extra in named:
        for package in extras[extra]:
            module, name = re.match(r"[a-z]+", package)[0], re.match(r"[\w-]+", package)[0]
            assert re.search(rf"\b(import|from) {module}\b|`{module}\.|[\"`]{name}[\"`]", used), package


def test_the_words_lead_to_what_there_is():
    """Whatever the page of words names as a function of `arm` is one, and the words that newcomers look for are there.
    """
    page = (DOCS / "start" / "words.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`arm\.(\w+)", page))
    assert len(named) > 25 and not [name for name in named if not hasattr(cayley.load("planar2r"), name)]
    for words in ("RNEA", "CRBA", "ABA", "mass matrix", "armature", "end effector", "forward kinematics",
                  "floating base", "mimic joint", "nonlinear effects", "payload", "collision", "orientation"):
        assert words in page, words


def test_the_page_of_packages_names_what_there_is():
    page = (DOCS / "start" / "packages.md").read_text()
    rows = re.findall(r"^\| .* \| (`.*) \| (`cayley.*) \|$", page, flags=re.MULTILINE)
    assert len(rows) > 30
    for functions, modules in rows:
        found = [importlib.import_module(module) for module in re.findall(r"`([\w.]+)`", modules)]
        for name in re.findall(r"`(\w+)`", functions):
            assert any(hasattr(module, name) for module in found), (name, modules)


def test_each_row_of_the_errata_has_its_own_label():
    labels = re.findall(r"^\| (E\d\w?)-(\d+) \|", (DOCS / "developers" / "errata.md").read_text(), flags=re.MULTILINE)
    withdrawn = {("E2", 26), ("E2", 39)}  # a reader who looks for one of these must not find another thing
    for source, count in {"E0": 81, "E1": 39, "E1b": 36, "E2": 44, "E3": 46, "E4": 26}.items():
        assert [int(number) for name, number in labels if name == source] == [
            k for k in range(1, count + 1) if (source, k) not in withdrawn]


def test_labels_of_errata_that_are_cited_exist():
    known = set(re.findall(r"^\| (E\d\w?-\d+) \|", (DOCS / "developers" / "errata.md").read_text(), flags=re.MULTILINE))
    cited = {label for page in PAGES for label in re.findall(r"\bE\db?-\d\d\b", page.read_text(encoding="utf-8"))}
    assert cited <= known, cited - known


def test_the_savings_of_minimal_links_are_as_the_page_says():
    measured = module_at(DOCS / "developers" / "theory" / "minimal_links.py")
    page = (DOCS / "developers" / "theory" / "inverse_dynamics.md").read_text()
    for choices in (measured.STEPS, measured.WITHOUT):
        assert "\n".join(measured.rows(choices)) in page


def test_every_way_of_counting_computes_the_same_forces():
    measured = module_at(DOCS / "developers" / "theory" / "minimal_links.py")
    state = measured.np.random.default_rng(1).normal(size=(3, 7))
    for make in measured.ARMS.values():
        links = measured.links_of(make())
        q, qd, qdd = state[:, :links.nq]
        expected = measured.inverse_dynamics(links, q, qd, qdd)
        for change in [*measured.STEPS.values(), *measured.WITHOUT.values()]:
            changed, text = change(links)
            assert text(changed, q, qd, qdd) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.fixture
def pictures(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "pictures")
    return module_at(DOCS / "pictures" / "pictures.py")


def test_every_picture_is_shown_on_a_page(pictures):
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(pictures.PICTURES) == set(PICTURES) and all(f"pictures/{name}.png)" in texts for name in PICTURES)


def test_pages_draw_the_pictures_of_what_they_make():
    assert set(DRAWN_BY_PAGES.values()) <= set(PAGES)
    assert {"balance", "carrier", "walker"} <= set(DRAWN_BY_PAGES) <= set(PICTURES)


@pytest.mark.parametrize("name", sorted(set(PICTURES) - set(DRAWN_BY_PAGES)))
def test_pictures_are_drawn_again(tmp_path, pictures, name):
    """Those of pages are drawn when the page itself is tested, as docs/conftest.py says."""
    drawn, kept = pictures.beside_kept(name, tmp_path)
    assert drawn.shape == kept.shape and drawn.std() > 0.05


@pytest.mark.parametrize("width", [1400, 390, 2560])
def test_pages_in_a_browser(built, browser, width):
    folder, _ = built
    for name in ("index", "start/conventions", "developers/errata", "start/engineer",
                 "developers/theory/inverse_dynamics", "reference/cayley_dynamics", "reference/arm.loops"):
        browser.open(folder / f"{name}.html", width=width)
        assert not browser.problems, (name, browser.problems)
        assert not [url for url in browser.requests if not url.startswith(("file:", "data:", "about:", "blob:"))], name
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    browser.open(folder / "developers" / "theory" / "inverse_dynamics.html", width=width)
    heights = browser.evaluate(
        "[...document.querySelectorAll('.equation')].map(one => one.getBoundingClientRect().height)")
    assert len(heights) >= 10 and all(15 < height < (90 if width > 600 else 220) for height in heights), heights


def test_no_page_of_the_reference_is_longer_than_twelve_thousand_pixels(built, browser):
    """On a screen 1400 pixels wide; the longest by their texts are measured."""
    lengths = {page: len(re.sub("<[^>]+>", "", page.read_text(encoding="utf-8")))
               for page in (built[0] / "reference").glob("*.html")}
    for page in sorted(lengths, key=lengths.get)[-40:]:
        browser.open(page, width=1400)
        assert browser.evaluate("document.querySelector('article').scrollHeight") < 12_500, page


@pytest.mark.parametrize("width", [1400, 390])
def test_equations_and_on_wide_screens_examples_are_not_cut(built, browser, width):
    folder, _ = built
    cut = ("[...document.querySelectorAll(%r)].filter(one => one.scrollWidth > one.clientWidth + 1).map(one => "
           "one.textContent.slice(0, 60))")
    for name in ("index", "start/student", "start/engineer", "start/researcher", "robots/designer",
                 "motion_and_control/simulation", "developers/theory/inverse_dynamics", "developers/theory/rotations"):
        browser.open(folder / f"{name}.html", width=width)
        assert browser.evaluate(cut % ".equation") == [], name
        assert width < 600 or browser.evaluate(cut % ".highlight code") == [], name


def test_what_is_copied_of_an_example_can_be_pasted(site):
    """The statements, without prompts and without results."""
    copied = [text for page in site.values() for text in page.copied]
    assert len(copied) > 300
    for text in copied:
        ast.parse(text)
        assert not re.search(r"^(>>>|\.\.\. )", text, flags=re.MULTILINE), text
    student = site["start/student.html"].copied[0]
    assert student.startswith("import numpy as np\nimport cayley as cy\n") and "array([0.659107" not in student


def test_the_reference_lists_what_users_import_once(site):
    names = [name for page, anchors in site.items() if page.startswith("reference/")
             for name in anchors.listed if re.match(r"cayley\.[A-Za-z_]+$|cayley\.Mechanism\.", name)]
    shown = {f"cayley.{name}" for name in cayley.__all__ if not inspect.ismodule(getattr(cayley, name))}
    assert len(names) == len(set(names)) and shown - {"cayley.Mechanism", "cayley.__version__"} <= set(names)
    for inherited in ("inverse_dynamics", "forward_dynamics", "gravity_forces", "with_payload", "with_friction", "of"):
        assert f"cayley.Mechanism.{inherited}" in names
    first = [name for name in site["reference/cayley.html"].listed if name.startswith("cayley.")]
    assert first[0] == "cayley.load"


@pytest.mark.parametrize("page, call", [
    ("Mechanism_kinematics", "pose(q: ArrayLike, frame: str, *, relative_to: str = 'world') -> np.ndarray"),
    ("Mechanism_dynamics", "inverse_dynamics(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray"),
    ("Mechanism_dynamics", "linearize(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Sensitivities"),
    ("arm.loops", "close(q: ArrayLike, t: ArrayLike | None = None, *"),
    ("arm.control", "pd(kp: ArrayLike, kd: ArrayLike, *")])
def test_the_reference_shows_how_functions_are_called(built, page, call):
    """Kernels with the arrays that they take, functions of groups without the tree that they are given."""
    text = (built[0] / "reference" / f"{page}.html").read_text(encoding="utf-8")
    assert call in re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", "", text))).replace('"', "'")


def search(browser, words):
    browser.evaluate(f"""(() => {{ const field = document.querySelector("[data-md-component=search-query]");
        field.focus(); field.value = {words!r}; field.dispatchEvent(new Event("input", {{bubbles: true}}));
        field.dispatchEvent(new KeyboardEvent("keyup", {{bubbles: true}})); }})()""")


def test_the_search_works_from_the_disk(built, browser):
    browser.open(built[0] / "index.html", width=1400)
    search(browser, "composite bodies")
    browser.wait("document.querySelectorAll('.md-search-result__item').length > 0")


FOUND_BY = {
    "forward kinematics": "words.html#forward-kinematics", "RNEA": "words.html#inverse-dynamics-rnea",
    "ABA": "words.html#inverse-dynamics-rnea-forward-dynamics-aba", "end effector": "words.html#forward-kinematics-end",
    "CRBA": "words.html#inverse-dynamics-rnea-forward-dynamics-aba-mass-matrix-crba", "TCP": "words.html#forward-kin",
    "mass matrix": "words.html#inverse-dynamics-rnea-forward-dynamics-aba-mass-matrix", "armature": "words.html#robot",
    "nonlinear effects": "words.html#inverse-dynamics-rnea", "floating base": "words.html#robot-models-floating-base",
    "centroidal momentum matrix": "words.html#centroidal-momentum-matrix", "payload": "words.html#robot-models",
    "manipulator Jacobian": "words.html#forward-kinematics", "mimic": "words.html",
    "gravity compensation": "cayley.Mechanism.gravity_forces", "animate": "cayley.Mechanism.animate",
    "computeCoriolisMatrix": "coming_from/pinocchio.html#dynamics", "mj_fullM": "coming_from/mujoco.html#dynamics",
    "nonLinearEffects": "coming_from/pinocchio.html#dynamics", "jacob0": "coming_from/robotics_toolbox.html#kinematics"}


def test_what_people_search_leads_to_the_right_place_first(built, browser):
    """In the site's own search: among the first links of the two pages that it finds first."""
    browser.open(built[0] / "index.html", width=1400)
    for words, place in FOUND_BY.items():
        search(browser, words)
        links = ("[...document.querySelectorAll('.md-search-result__item')].slice(0, 2)"
                 ".flatMap(item => [...item.querySelectorAll('a')].slice(0, 3)).map(link => decodeURI(link.href))")
        asked = f"h={words.split()[0].lower()}"
        browser.wait(f"{links}.some(link => link.toLowerCase().includes({asked!r}))")
        found = [re.sub(r"\?h=[^#]*", "", link) for link in browser.evaluate(links)]
        assert any(place in link for link in found), (words, found)
