"""Human input: keys, keyboards, mouse, and a form for actions."""
