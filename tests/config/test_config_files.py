from __future__ import annotations

import pytest

from fetchworker.config import files, load_environment, project_dir
from fetchworker.errors import ConfigError


def test_the_project_is_where_scrapy_cfg_is(tmp_path):
    (tmp_path / "scrapy.cfg").write_text("[settings]")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_dir(inner) == tmp_path


def test_without_a_scrapy_cfg_above_the_one_beside_the_package_counts(tmp_path):
    found = project_dir(tmp_path)
    assert (found / "scrapy.cfg").is_file()
    assert (found / "fetchworker").is_dir()


def test_without_any_scrapy_cfg_it_is_here(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "__file__", str(tmp_path / "x" / "y" / "files.py"))
    assert project_dir(tmp_path) == tmp_path


def test_relative_paths_are_relative_to_the_project_and_a_tilde_is_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    env = load_environment({"FETCHWORKER_STATE_DIR": "~/state"}, project=tmp_path / "project")
    assert env.state_dir == tmp_path / "state"
    assert env.sites_file == tmp_path / "project" / "sites.yaml"


@pytest.mark.parametrize("name", ["PROXIES_FILE", "CA_FILE", "SITES_FILE"])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(ConfigError) as caught:
        load_environment({f"FETCHWORKER_{name}": "none.txt"}, project=tmp_path)
    text = f"FETCHWORKER_{name}: {tmp_path}/none.txt cannot be read (No such file or directory); write the path of "
    assert str(caught.value).startswith(text)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match=r"FETCHWORKER_CA_FILE: .* cannot be read \(Is a directory\)"):
        load_environment({"FETCHWORKER_CA_FILE": str(tmp_path)})


def test_a_proxy_list_named_with_an_at_sign_is_refused_under_its_variable(tmp_path):
    with pytest.raises(ConfigError, match=r"^FETCHWORKER_PROXIES: .*none.txt cannot be read"):
        load_environment({"FETCHWORKER_PROXIES": "@none.txt"}, project=tmp_path)


def test_a_state_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(ConfigError, match="FETCHWORKER_STATE_DIR: is not the name of a folder"):
        load_environment({"FETCHWORKER_STATE_DIR": "state"}, project=tmp_path)


def test_a_ca_file_without_a_certificate_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("-----BEGIN RSA PRIVATE KEY-----")
    with pytest.raises(ConfigError, match="FETCHWORKER_CA_FILE: no certificate in"):
        load_environment({"FETCHWORKER_CA_FILE": "ca.pem"}, project=tmp_path)


@pytest.mark.parametrize("path", ["x" * 5000, "~nobody-of-that-name/x", "a/\N{SNOWMAN}"])
def test_odd_paths_are_refused_and_nothing_else(tmp_path, path):
    with pytest.raises(ConfigError, match="FETCHWORKER_PROXIES_FILE"):
        load_environment({"FETCHWORKER_PROXIES_FILE": path}, project=tmp_path)


def test_a_proxy_list_named_with_an_at_sign_is_a_proxy_file(tmp_path):
    (tmp_path / "p.txt").write_text("http://h:1")
    env = load_environment({"FETCHWORKER_PROXIES": "@ p.txt"}, project=tmp_path)
    assert (env.proxies, env.proxies_file) == (None, tmp_path / "p.txt")
