"""What clients of tests trust, made once: to make it takes longer than most tests."""

import ssl
from typing import Final

TRUST: Final = ssl.create_default_context()
