package mosaic.worker;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** What reads programs and runs agents of them. */
public interface Interpreter {
    /**
     * Read a program.
     *
     * @param file Where it lies.
     * @param words What the environment's actions are called.
     * @param skills What is called with parameters among them, {@code go_to} for {@code go_to_yellow_key}.
     * @throws Refused It cannot be read or is wrong; each mistake with its file and line.
     */
    Program read(String file, Set<String> words, Set<String> skills) throws Refused;

    /** A program that can be run. */
    interface Program {
        /** What tables call it. */
        String policy();

        /**
         * An agent in an episode that begins.
         *
         * @param name Of the agent.
         * @param seed Of the episode: all random numbers come from it and the step.
         */
        Agent begin(String name, long seed);
    }

    /** An agent in one episode. */
    interface Agent {
        /**
         * See, hear, think and act.
         *
         * @param step Of the environment.
         * @param facts All that the agent sees.
         * @param heard What team-mates have said since, each with its name before it.
         * @param limits How long it may take.
         * @return What it does.
         * @throws Undecided There is no action.
         */
        Choice decide(long step, List<String> facts, List<String> heard, Limits limits) throws Undecided;

        /** What it says to the team beside an action that is not its own. */
        default String told() {
            return "";
        }

        /** What was thought for the last decision, as plain data. */
        Map<String, Object> thought();
    }

    /** Limits of one decision: steps of the interpreter, and seconds. */
    record Limits(long cycles, double seconds) {}

    /**
     * An action: its word, or its numbers where it has no word, and what is said to the team with it.
     *
     * @param word How the program calls the action, or null.
     * @param numbers One for each component.
     * @param said To the team; may be empty.
     */
    record Choice(String word, double[] numbers, String said) {}
}
