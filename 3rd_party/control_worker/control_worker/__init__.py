"""Classical control as a worker: LQR, PID and state feedback."""
