"""The Dockerfiles: complete, unprivileged, and in step with the manifests."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
SERVICES = ("catalog", "checkin", "quantizer", "renderer")
FOLDERS = {
    "personalq-proto": "proto",
    "personalq-chassis": "libs/chassis",
    "personalq-taq": "libs/taq",
}


def _dockerfile(service: str) -> str:
    text = (ROOT / "services" / service / "Dockerfile").read_text()
    return text.replace("\\\n", " ")


def _needed(folder: str) -> set[str]:
    """The folder and those of all our distributions it depends on."""
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[^a-z-]", wish)[0] for wish in project["dependencies"]}
    ours = [FOLDERS[name] for name in names if name.startswith("personalq-")]
    return {folder}.union(*(_needed(each) for each in ours))


def _pod(service: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((ROOT / f"deploy/k8s/base/{service}.yaml").read_text())
    [deployment] = [each for each in documents if each["kind"] == "Deployment"]
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_holds_all_of_our_distributions_it_needs(service: str) -> None:
    """They are on no index: each is copied and installed from its folder, others from the pins."""
    text = _dockerfile(service)
    [install] = re.findall(r"pip install (.*)", text)
    installed = {each.split("$")[0].split("[")[0] for each in re.findall(r"\./([^'\" ]+)", install)}
    assert installed == _needed(f"services/{service}")
    assert {f"COPY {folder} {folder}" for folder in installed} <= set(text.splitlines())
    assert "-c constraints.txt" in install


@pytest.mark.parametrize("service", SERVICES)
def test_image_and_pod_agree_on_user_port_and_volumes(service: str) -> None:
    """The image alone works as the pod does: same user, and it owns what it writes to."""
    text, pod = _dockerfile(service), _pod(service)
    user = "{runAsUser}:{runAsGroup}".format(**pod["securityContext"])
    assert f"USER {user}" in text
    [container] = pod["containers"]
    [port] = [each["containerPort"] for each in container["ports"] if each["name"] == "grpc"]
    assert f"EXPOSE {port}" in text
    mounts = {each["mountPath"] for each in container["volumeMounts"]} - {"/tmp"}  # noqa: S108
    assert set(re.findall(r"^VOLUME (.*)$", text, re.MULTILINE)) == mounts
    for mount in mounts:
        owner, group = user.split(":")
        assert f"RUN install -d -o {owner} -g {group} {mount}" in text
