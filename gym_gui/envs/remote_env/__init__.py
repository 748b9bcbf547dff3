"""Served environments: environments in another interpreter or on another machine, used like local ones.

The server is ``mosaic_env_server`` of the worker SDK; docs/environment_server.md describes the protocol.
"""

from gym_gui.envs.remote_env.instances import Wanted, make_served
from gym_gui.envs.remote_env.servers import Elsewhere, Here, Place, close_servers

__all__ = ["Elsewhere", "Here", "Place", "Wanted", "close_servers", "make_served"]
