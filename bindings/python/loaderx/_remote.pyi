# SPDX-License-Identifier: MIT
# The extension for remote datasets, which exists if libloaderx was built with it.
from typing import Any, List, Optional, Tuple

MAX_CONNECTIONS: int

def opener(cache: Optional[bytes], limit: Optional[int], memory: Optional[int],
           connections: Optional[int], patience: Optional[int], tier: Tuple[str, ...],
           endpoint: Optional[str], region: Optional[str], anonymous: bool,
           credentials: Optional[int], /) -> Any: ...
def prune(url: bytes, opener: Any, older: int, dry_run: bool,
          /) -> List[Tuple[str, int, int]]: ...
def prepare_threads() -> None: ...
