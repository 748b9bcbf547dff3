"""Host's end of the connection to workers: messages and their channels."""

from gym_gui.wire.channel import Channel, JsonChannel, SocketChannel, pb
from gym_gui.wire.pack import add_columns, columns_of

__all__ = ["Channel", "JsonChannel", "SocketChannel", "add_columns", "columns_of", "pb"]
