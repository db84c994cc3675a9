"""A release that breaks its own promise is never written, and the refusal says what would pass."""

import pytest

from anonloom.errors import PrivacyError


def refusal(clinic, *settings):
    with pytest.raises(PrivacyError) as refused:
        clinic.pipeline(*settings).publish()
    assert ["clinic.csv", "pipeline.yaml"] == clinic.file_names()
    assert 3 == refused.value.exit_code
    return str(refused.value)


def test_an_unsound_method_is_caught_by_the_independent_check(clinic):
    message = refusal(clinic, "stages.partitioner.length=5", "stages.partitioner.literal=true")

    assert (
        "the release is not published: size does not hold: 1 of 3 published classes (2 of 12 rows) "
        "are refused; k: 2 would pass\n"
        "    Nothing was written. Use a sound method, allow suppression, or lower the demand."
        == message
    )


def test_a_table_that_is_too_small_is_refused_before_the_first_stage(clinic):
    message = refusal(clinic, "privacy.size.k=13")

    assert (
        "the whole table does not satisfy size: it has 12 usable rows, and k: 12 would pass\n"
        "    Nothing was written. No partition can satisfy what the whole table does not."
        == message
    )


def test_a_sampler_that_keeps_too_little_is_refused_before_the_first_stage(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    message = refusal(clinic, "privacy.size.k=7")

    assert (
        "the whole table is too small: after sampling a class must still have 7 rows, which takes "
        "13 before; there are 12\n"
        "    Nothing was written. Sample a larger share, or lower the demand." == message
    )


def test_suppression_is_limited_like_privacy(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - outliers: first-out\n  - generalizer: as-declared\n"
    )
    message = refusal(clinic)

    assert (
        "the release is not published: 4 of 12 rows are suppressed (33.33%), more than "
        "'suppression: at_most' allows (0.00%)\n"
        "    Nothing was written. 'suppression: {at_most: 0.3334}' would pass." == message
    )
    clinic.change("privacy:", "suppression: {at_most: 0.3334}\nprivacy:")
    assert 4 == clinic.pipeline().publish().report["summary"]["suppressed"]


def test_a_class_of_which_nothing_is_left_is_suppressed_and_explained(clinic):
    clinic.change("    age: {role: quasi, type: number}\n", "    age: {role: label}\n")
    message = refusal(clinic)

    assert (
        "the release is not published: 4 of 12 rows are suppressed (33.33%), more than "
        "'suppression: at_most' allows (0.00%)\n"
        "    Nothing was written. 'suppression: {at_most: 0.3334}' would pass.\n"
        "    4 of them are in classes whose values have only '*' in common: a hierarchy with more "
        "levels, or 'publish: set', would help." == message
    )


def test_a_table_of_too_few_persons_is_refused_by_their_number(clinic):
    clinic.change("    bill: {role: other}\n", "    illness: {role: person}\n")
    clinic.change("    illness: {role: sensitive}\n", "")
    message = refusal(clinic)

    assert message.startswith(
        "the whole table does not satisfy size: it has 12 usable rows of 2 persons, and "
    )


def test_dropped_rows_count_as_suppressed(clinic):
    clinic.change(
        "  - generalizer: as-declared\n", "  - outliers: first-out\n  - generalizer: as-declared\n"
    )
    clinic.change("privacy:", "suppression: {at_most: 0.3, rows: drop}\nprivacy:")
    message = refusal(clinic)

    assert message.startswith(
        "the release is not published: 4 of 12 rows are suppressed (33.33%), more than "
    )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("rows: '> 5'", "counting.rows > 5 (it is 12)"),
        ("share: '>= 1'", "counting.share >= 1 (it is 1)"),
        ("linkage: '> 5'", "counting.linkage > 5 (there is no such finding)"),
        ("row: '> 5'", "counting.row > 5 (there is no such finding; did you mean 'rows'?)"),
    ],
)
def test_fail_if_keeps_a_release_from_being_written(clinic, condition, found):
    clinic.change("  - counting\n", f"  - auditor: counting\n    fail_if: {{{condition}}}\n")

    assert (
        f"the release is not published: fail_if holds for {found}\n    Nothing was written."
        == refusal(clinic)
    )


def test_what_cannot_be_assessed_fails(clinic):
    clinic.change(
        "  - counting\n",
        "  - auditor: counting\n    with: {nothing: true}\n    fail_if: {share: '> 5'}\n",
    )

    assert (
        "the release is not published: fail_if holds for counting.share > 5 (it is not assessable)"
        "\n    Nothing was written." == refusal(clinic)
    )


def test_a_condition_that_does_not_hold_publishes(clinic):
    clinic.change("  - counting\n", "  - auditor: counting\n    fail_if: {rows: '> 12'}\n")
    report = clinic.pipeline().publish().report

    rows = next(f for f in report["audits"][0]["findings"] if f["name"] == "rows")
    assert ("rows > 12", False) == (rows["condition"], rows["failed"])


def test_a_class_of_one_person_with_many_rows_is_refused(clinic):
    text = (clinic.folder / "clinic.csv").read_text().splitlines()
    # The four youngest patients are one person.
    for index in (2, 4, 10, 1):
        text[index] = text[index].replace(text[index].split(",")[0], "the same")
    (clinic.folder / "clinic.csv").write_text("\n".join(text) + "\n")
    clinic.change("    bill: {role: other}", "    bill: {role: other}\n    name: {role: person}")

    outcome = clinic.pipeline().run()
    # A method that understands sizes only made classes of four; merging counted persons.
    assert all(size >= 4 for size in outcome.collection.classes.sizes)
    message = refusal(clinic, "stages.partitioner.literal=true")
    assert (
        "size does not hold: 1 of 3 published classes (4 of 12 rows) are refused; k: 1" in message
    )


def test_sampling_does_not_excuse_an_unsound_method(clinic):
    """Withholding is for classes that sampling undid, not for classes that never held."""
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    clinic.change("privacy:", "suppression: {at_most: 1}\nprivacy:")
    message = refusal(clinic, "stages.partitioner.length=5", "stages.partitioner.literal=true")

    assert "size does not hold: 1 of 3 published classes (2 of 12 rows) are refused" in message
