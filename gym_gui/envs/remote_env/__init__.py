"""Served environments: environments in another interpreter or on another machine, used like local ones.

The server is ``mosaic_env_server`` of the worker SDK; docs/environment_server.md describes the protocol.
"""

from gym_gui.envs.remote_env.instances import InstanceRequest, make_served
from gym_gui.envs.remote_env.servers import LocalServer, Place, RemoteServer, close_servers

__all__ = ["InstanceRequest", "LocalServer", "Place", "RemoteServer", "close_servers", "make_served"]
