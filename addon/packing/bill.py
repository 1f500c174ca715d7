# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all components with versions and licences (an SBOM), as an SPDX 2.3 document in JSON.

One document for all zips: each zip is a package with its checksum, each component another, and a relation says which
zip holds which component, in which of its files.
"""
import datetime
import json
import os
import re
import subprocess
import uuid
from pathlib import Path
from typing import Any

from .components import Component
from .repository import sha256
from .tree import ROOT, TIMESTAMP

NAMESPACE = uuid.UUID("6a9f6c0e-6d0c-5f5b-9a55-5d8f4d8f8a11")  # of our documents; any fixed one will do


def created() -> str:
    """When the commit was made that this is built from, so that building twice gives the same bytes."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
        seconds = shown.stdout.strip()
    moment = (datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds.isdigit()
              else datetime.datetime(*TIMESTAMP))
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def reference(*words: str) -> str:
    """An SPDX identifier: letters, digits, dots and hyphens."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words))


def package_of_zip(path: Path, version: str) -> dict[str, Any]:
    return {
        "SPDXID": reference(path.stem), "name": path.stem, "versionInfo": version, "packageFileName": path.name,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "APPLICATION",
        "licenseConcluded": "GPL-3.0-or-later", "licenseDeclared": "GPL-3.0-or-later", "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}],
    }


def package_of_component(item: Component) -> dict[str, Any]:
    package = {
        "SPDXID": reference(item.name, item.version), "name": item.name, "versionInfo": item.version,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "LIBRARY",
        "licenseConcluded": item.licence, "licenseDeclared": item.licence, "copyrightText": "NOASSERTION",
        "sourceInfo": item.source,
    }
    if item.homepage:
        package["homepage"] = item.homepage
    if item.sha256:
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": item.sha256}]
    return package


def relation(kind: str, whole: str, part: str, comment: str = "") -> dict[str, str]:
    found = {"spdxElementId": whole, "relationshipType": kind, "relatedSpdxElement": part}
    return found | {"comment": comment} if comment else found


def document(version: str, zips: dict[Path, list[Component]]) -> dict[str, Any]:
    packages: dict[str, dict[str, Any]] = {}
    relations = []
    for path, components in sorted(zips.items()):
        whole = package_of_zip(path, version)
        packages[whole["SPDXID"]] = whole
        relations.append(relation("DESCRIBES", "SPDXRef-DOCUMENT", whole["SPDXID"]))
        for item in components:
            part = package_of_component(item)
            packages[part["SPDXID"]] = part
            relations.append(relation("CONTAINS", whole["SPDXID"], part["SPDXID"], "in " + ", ".join(item.binaries)))
    fingerprint = ",".join(package["checksums"][0]["checksumValue"] for package in packages.values()
                           if "packageFileName" in package)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"grain-{version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(NAMESPACE, fingerprint)}",
        "creationInfo": {"created": created(), "creators": [f"Tool: grain-package-{version}"]},
        "packages": list(packages.values()), "relationships": relations,
    }


def write_bill(folder: Path, version: str, zips: dict[Path, list[Component]]) -> Path:
    target = folder / f"grain-{version}.spdx.json"
    target.write_text(json.dumps(document(version, zips), indent=2) + "\n", "utf-8")
    return target
