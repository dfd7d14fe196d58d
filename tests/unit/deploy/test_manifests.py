"""The Kubernetes manifests: valid, hardened, and in step with the settings they set."""

from __future__ import annotations

import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from personalq.chassis.settings import CommonSettings

BASE = Path(__file__).parents[3] / "deploy" / "k8s" / "base"
SERVICES = ("catalog", "checkin", "quantizer", "renderer")
KUBERNETES_VERSIONS = ("1.31", "1.37")  # the oldest and the newest we validate against

Manifest = dict[str, Any]


def _manifests() -> list[Manifest]:
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    return [
        manifest
        for name in kustomization["resources"]
        for manifest in yaml.safe_load_all((BASE / name).read_text())
    ]


def _named(kind: str, name: str) -> Manifest:
    [found] = [m for m in _manifests() if (m["kind"], m["metadata"]["name"]) == (kind, name)]
    return found


def _container(service: str) -> Manifest:
    container: Manifest
    [container] = _named("Deployment", service)["spec"]["template"]["spec"]["containers"]
    return container


def _settings_of(service: str) -> type[CommonSettings]:
    module = import_module(f"personalq.{service}.settings")
    [cls] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, CommonSettings)
        and value is not CommonSettings
    ]
    return cls


def _environment(service: str) -> dict[str, str]:
    values: dict[str, str] = dict(_named("ConfigMap", service)["data"])
    for entry in _container(service).get("env", []):
        # A secret's value is the cluster's; any URL stands for it here.
        values[entry["name"]] = entry.get("value", "postgresql://login@postgres:5432/personalq")
    return {name: value for name, value in values.items() if name.startswith("PERSONALQ_")}


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_every_manifest_is_valid_for_the_cluster(version: str) -> None:
    """No manifest has a field that the API server does not know."""
    for manifest in _manifests():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    """The validation above can fail."""
    manifest = _named("Deployment", "catalog")
    manifest["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["periodSecond"] = 5
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, KUBERNETES_VERSIONS[0], strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_builds_the_base() -> None:
    """`kubectl kustomize` accepts the base and renders every manifest."""
    built = subprocess.run(
        ["kubectl", "kustomize", BASE], check=True, capture_output=True, text=True
    )
    rendered = {
        (manifest["kind"], manifest["metadata"]["name"])
        for manifest in yaml.safe_load_all(built.stdout)
    }
    assert rendered == {(m["kind"], m["metadata"]["name"]) for m in _manifests()}


@pytest.mark.parametrize("service", SERVICES)
def test_variables_are_the_settings_the_service_reads(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every variable is a setting, and together they make a service start."""
    cls = _settings_of(service)
    environment = _environment(service)
    assert set(environment) <= {cls.variable(field) for field in cls.model_fields}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = cls()
    assert settings.host == "0.0.0.0"  # noqa: S104 - in a container


@pytest.mark.parametrize("service", SERVICES)
def test_probes_and_service_use_the_port_the_server_listens_on(service: str) -> None:
    """One port runs through setting, container, probes and Service."""
    port = int(_environment(service)[f"PERSONALQ_{service.upper()}_PORT"])
    container = _container(service)
    probes = [
        container[name]["grpc"]["port"]
        for name in ("startupProbe", "readinessProbe", "livenessProbe")
    ]
    assert probes == [port] * 3
    assert {"name": "grpc", "containerPort": port} in container["ports"]
    assert _named("Service", service)["spec"]["ports"][0]["port"] == port


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_outlives_its_calls_in_flight(service: str) -> None:
    """Kubernetes kills a pod only after draining and the grace of its calls have passed."""
    values = _environment(service)
    cls = _settings_of(service)

    def seconds(field: str) -> float:
        return float(values.get(cls.variable(field), cls.model_fields[field].default))

    spec = _named("Deployment", service)["spec"]["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] > seconds("drain_s") + seconds("grace_s")


def test_no_pod_runs_as_root_or_writes_its_image() -> None:
    """Every pod satisfies the restricted Pod Security Standard, with a read-only root."""
    for manifest in _manifests():
        if manifest["kind"] not in ("Deployment", "Job"):
            continue
        pod = manifest["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
