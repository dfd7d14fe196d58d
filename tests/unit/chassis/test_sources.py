"""Checkpoints behind URIs: every scheme, every limit, every refusal."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fsspec
import pytest
from support.http_server import Answer, HttpServer, add_model, run_http
from support.polling import eventually
from support.s3_server import s3_server

from personalq.chassis.errors import CorruptFile, InvalidInput, NotFound, Unavailable
from personalq.chassis.origins import public_uri
from personalq.chassis.sources import Source, digest_of, fetch_source

MIB = 1024 * 1024
BEAR = b"the weights of a bear" * 1000
BEAR_SHA256 = hashlib.sha256(BEAR).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"other").hexdigest()
FINE_TUNE = {
    "model_index.json": b"{}",
    "unet/config.json": b'{"cross_attention_dim": 768}',
    "unet/diffusion_pytorch_model.safetensors": BEAR,
    "tokenizer/merges.txt": b"a b",
    "README.md": b"# not needed",
    "unet/diffusion_pytorch_model.bin": b"a pickle",
    ".cache/state.json": b"{}",
}
NEEDED = sorted(name for name in FINE_TUNE if not name.startswith(("README", "unet/d", ".cache")))
NEEDED = sorted([*NEEDED, "unet/diffusion_pytorch_model.safetensors"])


@pytest.fixture
def site() -> Iterator[HttpServer]:
    """A web server."""
    with run_http() as server:
        yield server


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[HttpServer, HttpServer]]:
    """A stand-in for the Hub, and the host it sends large files from."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with run_http() as api, run_http() as cdn:
        yield api, cdn


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """A running S3 server with a bucket `models`, which the environment leads to."""
    options = s3_server("models")
    monkeypatch.setenv("AWS_ENDPOINT_URL", str(options["endpoint_url"]))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return options


def write_folder(folder: Path, files: Mapping[str, bytes] = FINE_TUNE) -> Path:
    """`files` below `folder`."""
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def names_below(folder: Path) -> list[str]:
    """Relative paths of all files, hidden ones too."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


async def fetch(uri: str, directory: Path, *, sha256: str = "", size: int = 0, **more: Any) -> Path:
    """`fetch_source` with a roomy limit."""
    source = Source(uri=uri, sha256=sha256, size_bytes=size)
    return await fetch_source(source, directory, **{"max_bytes": 10 * MIB, **more})


class TestLocalFiles:
    """`file://`."""

    async def test_a_verified_file_is_used_in_place(self, tmp_path: Path) -> None:
        """On request, with the right digest, its own path comes back and nothing is copied."""
        path = tmp_path / "bear (v4).safetensors"
        path.write_bytes(BEAR)

        known: dict[str, Any] = {"sha256": BEAR_SHA256, "size": len(BEAR)}
        found = await fetch(path.as_uri(), tmp_path / "out", in_place=True, **known)

        assert found == path
        assert not (tmp_path / "out").exists()

    async def test_a_file_that_is_to_be_worked_on_is_copied_alone(self, tmp_path: Path) -> None:
        """What happens to it afterwards, or lies beside it, does not count."""
        path = tmp_path / "adapter_model.safetensors"
        path.write_bytes(BEAR)
        (tmp_path / "adapter_config.json").write_text("{}")

        found = await fetch(path.as_uri(), tmp_path / "out", sha256=BEAR_SHA256, size=len(BEAR))
        path.write_bytes(BEAR[::-1])

        assert found.read_bytes() == BEAR
        assert names_below(tmp_path / "out") == ["adapter_model.safetensors"]

    async def test_an_unverified_file_is_copied(self, tmp_path: Path) -> None:
        """Without a digest the bytes are copied, so that they cannot change afterwards."""
        path = tmp_path / "bear (v4).safetensors"
        path.write_bytes(BEAR)

        found = await fetch(path.as_uri(), tmp_path / "out")

        assert found == tmp_path / "out" / "bear__v4_.safetensors"
        assert found.read_bytes() == BEAR

    async def test_a_digest_that_differs_is_reported_with_both(self, tmp_path: Path) -> None:
        """The message names both digests and what to do."""
        path = tmp_path / "bear.safetensors"
        path.write_bytes(BEAR)

        for in_place in (True, False):
            with pytest.raises(CorruptFile) as caught:
                out = tmp_path / f"out-{in_place}"
                await fetch(path.as_uri(), out, sha256=OTHER_SHA256, in_place=in_place)

            for part in (BEAR_SHA256, OTHER_SHA256, "upload it again"):
                assert part in caught.value.message
            assert names_below(out) == []
        assert not (tmp_path / "out-True").exists()

    @pytest.mark.parametrize(
        ("size", "words"),
        [(len(BEAR) + 7, "7 bytes are missing"), (5, "more than the 5 announced")],
    )
    async def test_a_size_that_differs_is_reported(
        self, tmp_path: Path, size: int, words: str
    ) -> None:
        """Too short and too long are told apart."""
        (tmp_path / "bear.safetensors").write_bytes(BEAR)
        with pytest.raises(CorruptFile, match=words):
            await fetch((tmp_path / "bear.safetensors").as_uri(), tmp_path / "out", size=size)

    async def test_what_is_not_there_is_not_found(self, tmp_path: Path) -> None:
        """A path without a file is not found."""
        with pytest.raises(NotFound, match="does not exist where this service runs"):
            await fetch((tmp_path / "nothing.safetensors").as_uri(), tmp_path / "out")

    async def test_the_limit_holds(self, tmp_path: Path) -> None:
        """A file over the limit is refused whether or not it would be copied."""
        (tmp_path / "bear.safetensors").write_bytes(BEAR)
        uri = (tmp_path / "bear.safetensors").as_uri()
        for sha256 in ("", BEAR_SHA256):
            with pytest.raises(InvalidInput, match="the limit is 1000 bytes"):
                await fetch(uri, tmp_path / "out", sha256=sha256, max_bytes=1000)

    async def test_only_allowed_folders_are_read(self, tmp_path: Path) -> None:
        """With roots given, nothing outside them is read, not even through a link or `..`."""
        inside, outside = tmp_path / "models", tmp_path / "private"
        inside.mkdir()
        outside.mkdir()
        (outside / "key.json").write_text("{}")
        (inside / "bear.safetensors").write_bytes(BEAR)
        (inside / "link.json").symlink_to(outside / "key.json")
        (tmp_path / "alias").symlink_to(inside)

        allowed = (tmp_path / "alias",)
        found = await fetch(
            (inside / "bear.safetensors").as_uri(), tmp_path / "out", allowed_roots=allowed
        )
        assert found.read_bytes() == BEAR
        for uri in (
            (outside / "key.json").as_uri(),
            (outside / "absent.json").as_uri(),
            (inside / "link.json").as_uri(),
            f"{inside.as_uri()}/../private/key.json",
            f"{inside.as_uri()}/%2e%2e/private/key.json",
            outside.as_uri(),
        ):
            with pytest.raises(InvalidInput, match="outside the folders"):
                await fetch(uri, tmp_path / "out", allowed_roots=allowed)

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin"])
    async def test_devices_are_refused(self, tmp_path: Path, device: str) -> None:
        """What never ends is not opened."""
        with pytest.raises((InvalidInput, NotFound)):
            await fetch(f"file://{device}", tmp_path / "out")

    async def test_a_pipe_is_refused(self, tmp_path: Path) -> None:
        """A pipe would block for ever."""
        os.mkfifo(tmp_path / "pipe.safetensors")
        with pytest.raises(InvalidInput, match="no regular file"):
            await fetch((tmp_path / "pipe.safetensors").as_uri(), tmp_path / "out")

    async def test_a_loop_of_links_is_refused(self, tmp_path: Path) -> None:
        """A link to itself is no file."""
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises((InvalidInput, NotFound)):
            await fetch((tmp_path / "loop").as_uri(), tmp_path / "out")

    async def test_a_disk_that_takes_nothing_is_unavailable(self, tmp_path: Path) -> None:
        """Where the copy cannot be written the error is ours, names no folder, may be retried."""
        source = tmp_path / "bear.safetensors"
        source.write_bytes(BEAR)
        with pytest.raises(Unavailable, match="cannot be written to this machine: Not a directory"):
            await fetch(source.as_uri(), source / "out")


class TestFolders:
    """Folders: what is taken of them, and their digest."""

    async def test_only_what_a_checkpoint_needs_is_copied(self, tmp_path: Path) -> None:
        """Configurations, safetensors and text go along; pickles, readmes, hidden files do not."""
        folder = write_folder(tmp_path / "fine-tune")
        sha256, size = digest_of(folder)

        found = await fetch(folder.as_uri(), tmp_path / "out", sha256=sha256, size=size)

        assert found == tmp_path / "out" / "fine-tune"
        assert names_below(found) == NEEDED
        assert digest_of(found) == (sha256, size)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["fine-tune"]

    async def test_fetching_again_replaces_the_folder(self, tmp_path: Path) -> None:
        """A second fetch to the same place leaves the folder as it is at the source."""
        folder = write_folder(tmp_path / "fine-tune")
        await fetch(folder.as_uri(), tmp_path / "out")
        (folder / "tokenizer" / "merges.txt").unlink()

        found = await fetch(folder.as_uri(), tmp_path / "out")

        assert "tokenizer/merges.txt" not in names_below(found)

    async def test_a_changed_file_changes_the_digest(self, tmp_path: Path) -> None:
        """The digest covers names and bytes; a folder that differs is refused and not kept."""
        folder = write_folder(tmp_path / "fine-tune")
        sha256, _ = digest_of(folder)
        (folder / "unet" / "config.json").write_bytes(b'{"cross_attention_dim": 769}')

        with pytest.raises(CorruptFile, match=sha256):
            await fetch(folder.as_uri(), tmp_path / "out", sha256=sha256)

        assert names_below(tmp_path / "out") == []

    def test_the_digest_is_the_documented_one(self, tmp_path: Path) -> None:
        """Sorted lines of sha256sum, hashed."""
        folder = write_folder(tmp_path / "fine-tune")
        lines = sorted(
            f"{hashlib.sha256(FINE_TUNE[name]).hexdigest()}  {name}\n" for name in NEEDED
        )
        expected = hashlib.sha256("".join(lines).encode()).hexdigest()
        assert digest_of(folder) == (expected, sum(len(FINE_TUNE[name]) for name in NEEDED))
        assert digest_of(folder / "model_index.json") == (hashlib.sha256(b"{}").hexdigest(), 2)

    async def test_a_link_that_leaves_the_folder_is_refused(self, tmp_path: Path) -> None:
        """Neither a file nor a folder can be smuggled in by a link."""
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret" / "key.json").write_text("{}")
        for name, target in (("unet/key.json", "secret/key.json"), ("vae", "secret")):
            folder = write_folder(tmp_path / f"with-{name.replace('/', '-')}")
            (folder / name).symlink_to(tmp_path / target)
            with pytest.raises(InvalidInput, match="link that leaves the folder"):
                await fetch(folder.as_uri(), tmp_path / "out")
            with pytest.raises(InvalidInput, match="link that leaves the folder"):
                digest_of(folder)

    async def test_a_link_inside_the_folder_is_a_file(self, tmp_path: Path) -> None:
        """A link to another file of the same folder is copied as that file."""
        folder = write_folder(tmp_path / "fine-tune")
        (folder / "vae").mkdir()
        (folder / "vae" / "config.json").symlink_to("../unet/config.json")

        found = await fetch(folder.as_uri(), tmp_path / "out")

        assert not (found / "vae" / "config.json").is_symlink()
        assert (found / "vae" / "config.json").read_bytes() == FINE_TUNE["unet/config.json"]

    async def test_the_limit_is_for_the_whole_folder(self, tmp_path: Path) -> None:
        """Many small files count together."""
        folder = write_folder(tmp_path / "many", {f"{i}.json": b"x" * 100 for i in range(11)})
        with pytest.raises(InvalidInput, match="the limit is 1000 bytes"):
            await fetch(folder.as_uri(), tmp_path / "out", max_bytes=1000)

    async def test_a_folder_without_a_checkpoint_is_refused(self, tmp_path: Path) -> None:
        """A folder of pickles holds nothing for us."""
        folder = write_folder(tmp_path / "pickles", {"model.bin": b"x"})
        with pytest.raises(InvalidInput, match="holds no"):
            await fetch(folder.as_uri(), tmp_path / "out")


class TestHttp:
    """`http(s)://`."""

    async def test_a_file_is_streamed_and_verified(self, tmp_path: Path, site: HttpServer) -> None:
        """Bytes arrive, through a redirect, under the last name of the address."""
        site.answers["/a/bear.safetensors"] = Answer(status=302, headers={"Location": "/b"})
        site.answers["/b"] = Answer(body=BEAR)

        found = await fetch(
            f"{site.url}/a/bear.safetensors?token=t", tmp_path, sha256=BEAR_SHA256, size=len(BEAR)
        )

        assert found == tmp_path / "bear.safetensors"
        assert found.read_bytes() == BEAR

    async def test_wrong_bytes_leave_nothing(self, tmp_path: Path, site: HttpServer) -> None:
        """Another digest: both named, the query (a signature, perhaps) not."""
        site.answers["/bear.safetensors"] = Answer(body=BEAR)
        with pytest.raises(CorruptFile, match=f"{BEAR_SHA256}.*{OTHER_SHA256}") as caught:
            await fetch(f"{site.url}/bear.safetensors?sig=abc", tmp_path, sha256=OTHER_SHA256)
        assert "sig" not in caught.value.message
        assert names_below(tmp_path) == []

    @pytest.mark.parametrize("announce", [-1, None])
    async def test_the_limit_holds_while_streaming(
        self, tmp_path: Path, site: HttpServer, announce: int | None
    ) -> None:
        """An endless body is cut off at the limit, announced or not."""
        site.answers["/bear.safetensors"] = Answer(body=b"x" * (3 * MIB), announce=announce)
        with pytest.raises(InvalidInput, match=f"the limit is {MIB} bytes"):
            await fetch(f"{site.url}/bear.safetensors", tmp_path, max_bytes=MIB)
        assert names_below(tmp_path) == []

    async def test_a_broken_connection_is_unavailable(
        self, tmp_path: Path, site: HttpServer
    ) -> None:
        """Fewer bytes than announced by the server: a later attempt may succeed."""
        site.answers["/bear.safetensors"] = Answer(body=BEAR, announce=len(BEAR) + 1)
        with pytest.raises(Unavailable):
            await fetch(f"{site.url}/bear.safetensors", tmp_path)
        assert names_below(tmp_path) == []

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (404, NotFound),
            (410, NotFound),
            (401, InvalidInput),
            (403, InvalidInput),
            (400, InvalidInput),
            (204, InvalidInput),
            (429, Unavailable),
            (500, Unavailable),
            (503, Unavailable),
        ],
    )
    async def test_each_status_has_its_error(
        self, tmp_path: Path, site: HttpServer, status: int, error: type[Exception]
    ) -> None:
        """What a retry may heal is Unavailable, what the publisher must change is not."""
        site.answers["/bear.safetensors"] = Answer(status=status)
        with pytest.raises(error, match=str(status)) as caught:
            await fetch(f"{site.url}/bear.safetensors", tmp_path)
        assert type(caught.value) is error

    async def test_a_loop_of_redirects_ends(self, tmp_path: Path, site: HttpServer) -> None:
        """Redirects are followed a few times only."""
        site.answers["/loop"] = Answer(status=302, headers={"Location": "/loop"})
        with pytest.raises(InvalidInput, match="redirect"):
            await fetch(f"{site.url}/loop", tmp_path)

    async def test_a_redirect_to_another_scheme_is_refused(
        self, tmp_path: Path, site: HttpServer
    ) -> None:
        """A server cannot make this service read its own files."""
        site.answers["/trick"] = Answer(status=302, headers={"Location": "file:///etc/passwd"})
        with pytest.raises(InvalidInput):
            await fetch(f"{site.url}/trick", tmp_path)

    async def test_no_server_is_unavailable(self, tmp_path: Path, site: HttpServer) -> None:
        """A refused connection may be gone at the next attempt."""
        with run_http() as gone:
            address = gone.url
        with pytest.raises(Unavailable):
            await fetch(f"{address}/bear.safetensors", tmp_path)

    async def test_a_slow_server_ends_at_the_deadline(
        self, tmp_path: Path, site: HttpServer
    ) -> None:
        """A server that accepts and then says nothing does not hold the worker for ever."""
        release = threading.Event()
        site.answers["/bear.safetensors"] = Answer(announce=100, hold=release)
        with pytest.raises(Unavailable, match="did not arrive within"):
            await fetch(f"{site.url}/bear.safetensors", tmp_path, timeout_s=0.2)
        release.set()
        assert names_below(tmp_path) == []

    async def test_a_cancelled_fetch_leaves_nothing(self, tmp_path: Path, site: HttpServer) -> None:
        """Cancelled in the middle of the body, the partial file goes away."""
        release = threading.Event()
        site.answers["/bear"] = Answer(body=b"x" * 3 * MIB, announce=9 * MIB, hold=release)
        fetching = asyncio.ensure_future(fetch(f"{site.url}/bear", tmp_path))

        async def began() -> bool:
            return any(path.stat().st_size >= MIB for path in tmp_path.iterdir())

        await eventually(began)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        release.set()
        assert names_below(tmp_path) == []


class TestS3:
    """`s3://`."""

    async def test_a_file_and_a_folder(self, tmp_path: Path, s3: Mapping[str, Any]) -> None:
        """An object is a file; a prefix is a folder of which the needed files are taken."""
        filesystem = fsspec.filesystem("s3", **s3)
        for name, body in FINE_TUNE.items():
            filesystem.pipe_file(f"models/fine-tune/{name}", body)
        sha256, size = digest_of(write_folder(tmp_path / "original"))

        uri = "s3://models/fine-tune/unet/diffusion_pytorch_model.safetensors"
        file = await fetch(uri, tmp_path / "a", sha256=BEAR_SHA256)
        folder = await fetch("s3://models/fine-tune", tmp_path / "b", sha256=sha256, size=size)

        assert file.read_bytes() == BEAR
        assert names_below(folder) == NEEDED

    async def test_what_is_wrong_is_said(self, tmp_path: Path, s3: Mapping[str, Any]) -> None:
        """A missing key or bucket is not found; wrong bytes and too many are refused."""
        fsspec.filesystem("s3", **s3).pipe_file("models/bear.safetensors", BEAR)
        for uri in ("s3://models/absent.safetensors", "s3://no-such-bucket/bear.safetensors"):
            with pytest.raises(NotFound):
                await fetch(uri, tmp_path)
        with pytest.raises(CorruptFile, match=BEAR_SHA256):
            await fetch("s3://models/bear.safetensors", tmp_path, sha256=OTHER_SHA256)
        with pytest.raises(InvalidInput, match="the limit is 100 bytes"):
            await fetch("s3://models/bear.safetensors", tmp_path, max_bytes=100)
        with pytest.raises(InvalidInput, match="names a bucket but no file"):
            await fetch("s3://models/", tmp_path)
        with pytest.raises(InvalidInput, match="no valid address"):
            await fetch("s3://not a bucket/bear.safetensors", tmp_path)
        assert names_below(tmp_path) == []


class TestHub:
    """`hf://`."""

    async def test_a_file_at_a_revision(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """The file of that revision arrives; the token goes to the Hub and nowhere else."""
        api, cdn = hub
        add_model(api, cdn, "ann/bears", {"old.safetensors": b"old"})
        add_model(api, cdn, "ann/bears", {"lora/bear.safetensors": BEAR}, revision="v4")

        found = await fetch(
            "hf://ann/bears@v4/lora/bear.safetensors",
            tmp_path,
            sha256=BEAR_SHA256,
            hub_endpoint=api.url,
        )

        assert found == tmp_path / "bear.safetensors"
        assert found.read_bytes() == BEAR
        sent = {name.lower() for request in cdn.requests for name in request.headers}
        assert "authorization" not in sent
        assert {request.headers.get("authorization") for request in api.requests} == {
            "Bearer hf_secret"
        }

    async def test_a_folder_and_a_repository(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """A folder of a repository, or all of it: only the needed files are asked for."""
        api, cdn = hub
        add_model(api, cdn, "ann/fine-tune", FINE_TUNE)
        sha256, size = digest_of(write_folder(tmp_path / "original"))

        uri = "hf://ann/fine-tune"
        whole = await fetch(uri, tmp_path / "a", sha256=sha256, size=size, hub_endpoint=api.url)
        unet = await fetch(f"{uri}/unet", tmp_path / "b", hub_endpoint=api.url)

        assert names_below(whole) == NEEDED
        assert names_below(unet) == ["config.json", "diffusion_pytorch_model.safetensors"]
        asked = {request.path for request in api.requests}
        assert not any(path.endswith((".md", ".bin")) for path in asked)

    async def test_a_file_that_differs_from_the_hubs_digest_is_refused(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """Even without an announced digest the Hub's own is checked."""
        api, cdn = hub
        add_model(api, cdn, "ann/bears", {"bear.safetensors": BEAR})
        cdn.answers[f"/{BEAR_SHA256}"] = Answer(body=BEAR[:-1] + b"?")
        with pytest.raises(CorruptFile, match=BEAR_SHA256):
            await fetch("hf://ann/bears/bear.safetensors", tmp_path, hub_endpoint=api.url)
        assert names_below(tmp_path) == []

    async def test_what_is_missing_is_not_found(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """A repository, a revision, a file that do not exist; a gated repository is refused."""
        api, cdn = hub
        add_model(api, cdn, "ann/bears", {"bear.safetensors": BEAR, "unet/a.json": b"{}"})
        for path, code in (
            ("ann/absent", "RepoNotFound"),
            ("ann/bears/revision/v9", "RevisionNotFound"),
        ):
            api.answers[f"/api/models/{path}"] = Answer(status=404, headers={"X-Error-Code": code})
        for uri in (
            "hf://ann/absent/bear.safetensors",
            "hf://ann/bears@v9/bear.safetensors",
            "hf://ann/bears/other.safetensors",
            "hf://ann/bears/une",
        ):
            with pytest.raises(NotFound):
                await fetch(uri, tmp_path, hub_endpoint=api.url)
        api.answers["/api/models/ann/gated"] = Answer(
            status=403, headers={"X-Error-Code": "GatedRepo"}
        )
        with pytest.raises(InvalidInput, match="gated"):
            await fetch("hf://ann/gated/a.safetensors", tmp_path, hub_endpoint=api.url)
        api.answers["/api/models/ann/down"] = Answer(status=400)
        with pytest.raises(Unavailable):
            await fetch("hf://ann/down/a.safetensors", tmp_path, hub_endpoint=api.url)

    async def test_a_listing_that_leaves_the_folder_is_refused(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """A hostile listing cannot write outside the directory."""
        api, cdn = hub
        for name in ("/evil.json", "unet\\..\\..\\evil.json"):
            add_model(api, cdn, "ann/evil", {name: b"{}", "a.json": b"{}"})
            with pytest.raises(InvalidInput, match="outside itself"):
                await fetch("hf://ann/evil", tmp_path / "out", hub_endpoint=api.url)
            assert names_below(tmp_path) == []
        add_model(api, cdn, "ann/evil", {"unet/../../../evil.json": b"{}", "a.json": b"{}"})
        folder = await fetch("hf://ann/evil", tmp_path / "out", hub_endpoint=api.url)
        assert names_below(tmp_path) == [f"out/{folder.name}/a.json"]

    async def test_the_limit_holds_against_a_listing_that_lies(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """Sizes in the listing are checked against what arrives."""
        api, cdn = hub
        commit = add_model(api, cdn, "ann/liar", {"a.json": b"{}"})
        api.answers[f"/ann/liar/resolve/{commit}/a.json"] = Answer(body=b"x" * MIB, announce=None)
        with pytest.raises(CorruptFile, match="more than the 2 announced"):
            await fetch("hf://ann/liar", tmp_path / "out", hub_endpoint=api.url)
        assert names_below(tmp_path) == []

    async def test_the_endpoint_comes_from_the_environment(
        self, tmp_path: Path, hub: tuple[HttpServer, HttpServer]
    ) -> None:
        """HF_ENDPOINT decides when the caller does not."""
        api, cdn = hub
        add_model(api, cdn, "ann/bears", {"bear.safetensors": BEAR})
        code = (
            "import asyncio, sys; from pathlib import Path\n"
            "from personalq.chassis.sources import Source, fetch_source\n"
            "source = Source(uri='hf://ann/bears/bear.safetensors')\n"
            "print(asyncio.run(fetch_source(source, Path(sys.argv[1]), max_bytes=10**6)))"
        )
        environment = {**os.environ, "HF_ENDPOINT": api.url, "HF_HUB_OFFLINE": "0"}
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", code, str(tmp_path)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(done.stdout.strip()).read_bytes() == BEAR


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "bear.safetensors",
        "/models/bear.safetensors",
        "ftp://host/bear.safetensors",
        "file://host/bear.safetensors",
        "file:relative.safetensors",
        "file:///models/%00bear",
        "http://",
        "http://[::1/bear",
        "https:///bear.safetensors",
        "s3://",
        "hf://",
        "hf://ann",
        "hf://ann/@main",
        "hf://ann/bears\n/x",
        "http://host:port/bear",
        "http://host:99999/bear",
        "http://host/\x1b[31m",
        "http://" + "a" * 3000,
    ],
)
async def test_what_is_no_uri_is_refused(uri: str, tmp_path: Path) -> None:
    """Malformed and unknown URIs are the publisher's to correct, in a short message."""
    with pytest.raises(InvalidInput) as caught:
        await fetch(uri, tmp_path)
    assert len(caught.value.message) < 600
    assert caught.value.message.isprintable()
    assert names_below(tmp_path) == []


async def test_a_digest_that_is_none_is_refused(tmp_path: Path) -> None:
    """An announced digest must be one."""
    with pytest.raises(InvalidInput, match="sha256"):
        await fetch(tmp_path.as_uri(), tmp_path, sha256="abc")


async def test_a_scheme_without_its_library_names_the_extra(tmp_path: Path) -> None:
    """gs:// needs gcsfs, which is not installed for the tests."""
    with pytest.raises(InvalidInput, match=r"pip install 'personalq-chassis\[gs\]'"):
        await fetch("gs://bucket/bear.safetensors", tmp_path)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://me:secret@host/a.safetensors?sig=1#x", "https://host/a.safetensors"),
        ("hf://ann/bears@v4/a", "hf://ann/bears@v4/a"),
        ("s3://key@bucket/a", "s3://bucket/a"),
        ("no uri", "no uri"),
    ],
)
def test_messages_hide_credentials(uri: str, shown: str) -> None:
    """User, password and query stay out of messages; a Hub revision stays in."""
    assert public_uri(uri) == shown


def test_importing_sources_loads_no_network_library() -> None:
    """A service that reads only local files starts without them."""
    code = (
        "import sys, personalq.chassis.sources, personalq.chassis.inspection\n"
        "heavy = {'s3fs', 'botocore', 'huggingface_hub', 'httpx', 'torch', 'fsspec'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
