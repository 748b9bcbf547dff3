"""Steps of the contract test of workers; :mod:`gym_gui.workers.check` has its public interface."""
