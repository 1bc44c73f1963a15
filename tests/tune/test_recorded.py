"""Profiles recorded elsewhere give the same report; folders that are something else give one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.cli import cli
from mindferry.errors import MindferryError
from mindferry.tune.recorded import read_recorded

from .ascend_layout import KERNELS, STEP, table, write_profile

COMPUTING = sum(kernel[3] for kernel in KERNELS) / 1e6


def test_a_step_is_divided_into_phases_and_the_gap(tmp_path: Path) -> None:
    write_profile(tmp_path, free=25000.0)
    profile = read_recorded(tmp_path).profile
    phases = {phase.name: phase.seconds for phase in profile.phases}
    assert profile.steps == 3 and profile.device == "Ascend"
    assert profile.step_seconds == pytest.approx(COMPUTING + 0.025)
    assert phases["free"] == pytest.approx(0.025)
    assert phases["forward"] == pytest.approx(0.009)
    assert phases["backward"] == pytest.approx(0.012)
    assert phases["optimizer"] == pytest.approx(0.002)
    assert profile.attributed == 1.0


def test_operators_have_shapes_modules_and_times_of_one_step(tmp_path: Path) -> None:
    write_profile(tmp_path)
    first = read_recorded(tmp_path).profile.operators[0]
    assert (first.name, first.phase, first.calls) == ("Conv2DBackpropFilter", "backward", 1.0)
    assert first.seconds == pytest.approx(0.007)
    assert first.module == "network._backbone.layer1.0.conv1"
    assert first.shapes == "32,64,56,56; 32,64,56,56"


def test_the_guides_two_findings_come_out_the_gap_and_the_casts(tmp_path: Path) -> None:
    write_profile(tmp_path)
    record = read_recorded(tmp_path)
    assert [each.code for each in record.diagnoses] == ["device-idle", "cast-heavy"]
    assert "Batch, Map" in record.diagnoses[0].evidence or "Map, Batch" in record.diagnoses[0].evidence
    assert {"sink", "amp"} <= {each.name for each in record.experiments}


def test_a_busy_device_is_not_called_idle(tmp_path: Path) -> None:
    write_profile(tmp_path, free=900.0)
    assert "device-idle" not in [each.code for each in read_recorded(tmp_path).diagnoses]


def test_queues_come_with_the_pipeline_the_source_first(tmp_path: Path) -> None:
    write_profile(tmp_path)
    stages = read_recorded(tmp_path).profile.pipeline
    assert [stage.name for stage in stages] == ["Generator", "Map", "Batch"]
    assert (stages[1].workers, stages[1].queued, stages[1].capacity) == (4, 2.0, 64.0)
    assert stages[1].seconds == pytest.approx(0.0015)


def test_the_statistic_alone_is_enough_for_operators(tmp_path: Path) -> None:
    write_profile(tmp_path, with_details=False)
    operators = read_recorded(tmp_path).profile.operators
    assert [each.name for each in operators[:2]] == ["Cast", "Conv2DBackpropFilter"]  # one row a kind
    assert operators[0].seconds == pytest.approx(0.010) and operators[1].seconds == pytest.approx(0.007)


PUBLISHED = """\
Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,Cast,AI_VECTOR_CORE,240,23077.4,1.18,96.155,2708.32,10.561
0,BatchMatMulV3,AI_CORE,45,19941.5,417.24,443.144,483.54,9.126
0,MatMulV2,AI_CORE,332,17945.3,1.28,54.052,329.68,8.212
0,MatMulV2,MIX_AIC,10,1000.0,90.0,100.0,110.0,0.5
"""


@pytest.mark.parametrize("name", ["op_statistic.csv", "op_statistic_20260102030405.csv"])
@pytest.mark.parametrize("with_model", [False, True])
def test_a_statistic_as_cann_writes_it_is_read(name: str, with_model: bool, tmp_path: Path) -> None:
    output = write_profile(tmp_path, with_details=False) / "ASCEND_PROFILER_OUTPUT"
    (output / "op_statistic.csv").unlink()
    head, *rows = PUBLISHED.splitlines()
    lines = (
        [head.replace("Device_id,", "Device_id,Model Name,"), *(row.replace("0,", "0,main,", 1) for row in rows)]
        if with_model
        else [head, *rows]
    )
    (output / name).write_text("\n".join(lines) + "\n")
    profile = read_recorded(tmp_path).profile
    assert profile.device == "Ascend"
    found = {each.name: (each.calls * 3, each.seconds * 3) for each in profile.operators}  # there are three steps
    assert found["Cast"] == pytest.approx((240, 0.0230774)) and found["MatMulV2"] == pytest.approx((342, 0.0189453))
    assert list(found) == ["Cast", "BatchMatMulV3", "MatMulV2"]


def test_peak_memory_is_the_largest_record(tmp_path: Path) -> None:
    write_profile(tmp_path)
    assert read_recorded(tmp_path).profile.peak_memory == 768 * 2**20


def test_the_inner_folder_may_be_given_as_well(tmp_path: Path) -> None:
    root = write_profile(tmp_path)
    assert (
        read_recorded(root).profile
        == read_recorded(tmp_path).profile
        == read_recorded(root / "ASCEND_PROFILER_OUTPUT").profile
    )


def test_with_several_ranks_the_report_says_which_one_it_is(tmp_path: Path) -> None:
    write_profile(tmp_path)
    write_profile(tmp_path / "other")
    assert "2 ranks" in read_recorded(tmp_path).profile.notes[-1]


def refused(folder: Path) -> str:
    with pytest.raises(MindferryError) as error:
        read_recorded(folder)
    return str(error.value)


def test_another_version_is_one_sentence(tmp_path: Path) -> None:
    write_profile(tmp_path, version="1.9.0")
    assert "recorded with MindSpore 1.9.0" in refused(tmp_path)


def test_the_layout_of_old_versions_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "profiler").mkdir()
    (tmp_path / "profiler" / "step_trace_raw_0_detail_time.csv").write_text("")
    assert "before 2.5" in refused(tmp_path)


def test_a_table_with_other_columns_is_one_sentence(tmp_path: Path) -> None:
    root = write_profile(tmp_path)
    table(root / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv", [name for name in STEP if name != "Computing"], [])
    assert "no column 'Computing'" in refused(tmp_path)


def test_a_profile_of_torch_npu_is_one_sentence(tmp_path: Path) -> None:
    write_profile(tmp_path).rename(tmp_path / "host_1_2_ascend_pt")
    assert "torch_npu" in refused(tmp_path)


def test_raw_data_says_that_it_was_not_analysed(tmp_path: Path) -> None:
    (tmp_path / "PROF_000001_2026").mkdir()
    assert "analyse" in refused(tmp_path)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_no_data_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert str(tmp_path / name) in refused(tmp_path / name)


def test_damaged_information_is_one_sentence(tmp_path: Path) -> None:
    (write_profile(tmp_path) / "profiler_info_0.json").write_text("{")
    assert "profiler_info_0.json" in refused(tmp_path)


def test_the_command_prints_the_record_as_json(tmp_path: Path) -> None:
    write_profile(tmp_path)
    result = CliRunner().invoke(cli, ["tune", "--from", str(tmp_path), "--json"])
    body = json.loads(result.stdout)
    assert body["kind"] == "TuneRecord" and body["source"] == str(tmp_path)
    assert {phase["name"] for phase in body["profile"]["phases"]} == {"forward", "backward", "optimizer", "free"}


def test_the_command_prints_tables(tmp_path: Path) -> None:
    write_profile(tmp_path)
    shown = CliRunner().invoke(cli, ["tune", "--from", str(tmp_path)]).output
    assert "Conv2DBackpropFilter" in shown and "device-idle" in shown


def write_cpu_profile(folder: Path) -> None:
    """Two steps of a compiled step, in the layout that MindSpore 2.10 writes on a CPU (these lines were recorded)."""
    framework = folder / "vm_1_20261115142934204_ascend_ms" / "FRAMEWORK"
    framework.mkdir(parents=True)
    (framework / "cpu_op_execute_timestamp_0.txt").write_text(
        "Default/network-Net/conv-Conv2d/Conv2D-op0;HostCpuOps;1794752974000000000,10,0 1794752974100000000,30,0 \n"
        "Gradients/Default/network-Net/conv-Conv2d/Conv2DBackpropFilter-op1;HostCpuOps;1794752974020000000,20,0 1794752974140000000,40,0 \n"
        "Default/Adam-op0;HostCpuOps;1794752974050000000,2,0 1794752974190000000,10,0 \n"
    )
    (framework / "cpu_framework_0.txt").write_text(
        "Conv2D;Conv2D-op0;3107925399;input_1:[4, 3, 16, 16];input_2:[8, 3, 3, 3];\n;;3107925399;\n"
    )


def test_a_profile_of_a_cpu_has_operators_phases_and_the_gaps_between_them(tmp_path: Path) -> None:
    write_cpu_profile(tmp_path)
    profile = read_recorded(tmp_path).profile
    phases = {phase.name: phase.seconds for phase in profile.phases}
    assert (profile.device, profile.steps) == ("CPU", 2)
    assert phases == pytest.approx({"forward": 0.02, "backward": 0.03, "optimizer": 0.006, "host": 0.044}, rel=1e-3)
    first, second = profile.operators[:2]
    assert (first.name, first.module, second.shapes) == (
        "Conv2DBackpropFilter",
        "network.conv",
        "[4, 3, 16, 16], [8, 3, 3, 3]",
    )


def test_a_damaged_table_of_times_is_one_sentence(tmp_path: Path) -> None:
    write_cpu_profile(tmp_path)
    path = next(tmp_path.rglob("cpu_op_execute_timestamp_0.txt"))
    path.write_text("Default/Adam-op0;HostCpuOps;soon,later \n")
    assert "is not as MindSpore 2.10 writes it" in refused(tmp_path)


def test_a_profile_without_operators_is_one_sentence(tmp_path: Path) -> None:
    write_cpu_profile(tmp_path)
    next(tmp_path.rglob("cpu_op_execute_timestamp_0.txt")).write_text("")
    assert "recorded no operator" in refused(tmp_path)


@pytest.mark.parametrize("case", ["another version", "no such folder", "nothing in it", "not analysed"])
def test_a_folder_that_is_no_profile_ends_the_command_with_one_sentence(case: str, tmp_path: Path) -> None:
    folder, expected = (
        tmp_path / "profile",
        {"no such folder": "there is no folder", "nothing in it": "holds no profiler output"},
    )
    if case != "no such folder":
        folder.mkdir()
    if case == "another version":
        write_profile(folder, version="1.9.0")
    if case == "not analysed":
        (folder / "PROF_000001").mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "mindferry", "tune", "--from", str(folder)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("mindferry: ") and done.stderr.count("\n") == 1 and str(folder) in done.stderr
    assert expected.get(case, {"another version": "1.9.0"}.get(case, "analyse")) in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
