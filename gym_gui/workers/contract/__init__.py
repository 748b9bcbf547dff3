"""Steps of the contract test of workers; :mod:`gym_gui.workers.check` is its public interface."""
