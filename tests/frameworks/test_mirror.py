"""Where a worker runs: links to the files of two projects, the conversion's before those of its reference."""

from __future__ import annotations

from pathlib import Path

from mindferry.frameworks.mirror import link_entries


def test_a_folder_of_data_that_both_projects_have_holds_the_files_of_both(tmp_path: Path) -> None:
    """The conversion took along what its user was given; what a command has made since lies in the reference alone."""
    for name in (
        "ours/made/pairs.txt",
        "ours/pkg/a.py",
        "theirs/made/pairs.txt",
        "theirs/made/deep/vocab",
        "theirs/pkg/b.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    place = tmp_path / "place"
    place.mkdir()
    link_entries(tmp_path / "ours", place)
    link_entries(tmp_path / "theirs", place, is_code_wanted=False)
    assert (place / "made/pairs.txt").read_text() == "ours/made/pairs.txt"
    assert (place / "made/deep/vocab").read_text() == "theirs/made/deep/vocab"
    assert (place / "pkg").resolve() == tmp_path / "ours/pkg"  # a package stays where it is
    (place / "made/new").write_text("written")
    assert not (tmp_path / "ours/made/new").exists()
