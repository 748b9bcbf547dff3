import java.util.List;
import java.util.Map;
import java.util.Set;
import mosaic.worker.Conversation;
import mosaic.worker.Interpreter;
import mosaic.worker.Refused;

/** In the interpreter's place where there is none: does what the facts say is legal, in turn. */
public final class Echo implements Interpreter {
    public static void main(String[] arguments) {
        new Conversation("echo_worker", "1.0.0", new Echo()).run();
    }

    @Override
    public Program read(String file, Set<String> words, Set<String> skills) throws Refused {
        if (file.equals("wrong")) {
            throw new Refused("wrong, line 1: nothing was expected");
        }
        List<String> known = List.copyOf(words);
        return new Program() {
            @Override
            public String policy() {
                return "echo";
            }

            @Override
            public Agent begin(String name, long seed) {
                return new Turn(known, seed);
            }
        };
    }

    private record Turn(List<String> words, long seed) implements Agent {
        @Override
        public Choice decide(long step, List<String> facts, List<String> heard, Limits limits) {
            List<String> legal = facts.stream()
                    .filter(fact -> fact.startsWith("legal("))
                    .map(fact -> fact.substring("legal(".length(), fact.length() - 1))
                    .toList();
            if (legal.isEmpty()) {
                return words.isEmpty()
                        ? new Choice(null, new double[] {0.25, -0.5}, "")
                        : new Choice(words.get((int) Math.floorMod(seed + step, (long) words.size())), null, "");
            }
            String word = legal.get((int) Math.floorMod(seed + step, (long) legal.size()));
            return word.matches("-?\\d+") ? new Choice(null, new double[] {Long.parseLong(word)}, "") : new Choice(word, null, "");
        }

        @Override
        public Map<String, Object> thought() {
            return Map.of("plan", "line 1: +!\"\\\u00e9\ud83d\ude00\n");
        }
    }
}
