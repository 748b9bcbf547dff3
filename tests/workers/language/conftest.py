"""One real model server for all tests of language workers."""

from tests.support.model_server import model_server

__all__ = ["model_server"]
