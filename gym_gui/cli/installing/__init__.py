"""``mosaic install``, ``mosaic envs install``, ``mosaic workers install``: what is missing is brought."""
