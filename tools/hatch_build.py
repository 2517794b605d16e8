"""Build hook: the compiled copy of the catalog, so that an installed program never parses the YAML; and the manual pages."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Made(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling finds this class by its base."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the catalog of this tree; an editable install reads the YAML itself."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root))
        from advisor.catalogcache import packed_key, to_bytes
        from advisor.catalogcompile import compile_files
        from advisor.catalogfolder import files_of
        from advisor.catalogstack import PACKED

        files = files_of(root / "catalog")
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / PACKED
        path.write_bytes(to_bytes(compile_files(files, None, packed_key(root / "catalog", files))))
        build_data["force_include"][str(path)] = f"advisor/_catalog/{PACKED}"
        sys.path.insert(0, str(root / "tools"))
        import manpages

        for page in manpages.write(Path(self.folder.name) / "man"):
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy again."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
