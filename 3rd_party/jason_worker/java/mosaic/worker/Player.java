package mosaic.worker;

import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A slot: its program, and the agents of its episodes. */
final class Player {
    private final Interpreter.Program program;
    private final ActionSpace space;
    private final String agent;
    private final String noop;
    private final Interpreter.Limits limits;
    private final Map<String, Integer> words;
    private final Map<Long, Interpreter.Agent> episodes = new HashMap<>();

    Player(Map<String, Object> load, Interpreter interpreter) throws Refused {
        Map<String, Object> settings = Json.object(Json.read((String) load.get("settings")));
        space = new ActionSpace(Json.object(Json.read((String) load.get("action_space"))));
        if (!space.isKnown()) {
            throw new Refused("actions of kind " + space.kind + " are not known here");
        }
        String file = (String) settings.getOrDefault("program", "");
        if (file.isEmpty()) {
            throw new Refused("the setting program is missing: name a file with an AgentSpeak program (.asl)");
        }
        agent = (String) load.get("agent");
        noop = "noop".equals(settings.get("idle")) ? (String) load.get("noop") : null;
        limits = new Interpreter.Limits(
                Json.whole(settings.getOrDefault("max_cycles", 10_000L)), seconds(settings));
        List<String> meanings = Json.list(load.get("action_meanings"));
        words = Words.numbers(meanings);
        program = interpreter.read(file, words.keySet(), Words.skills(meanings));
    }

    private static double seconds(Map<String, Object> settings) {
        return ((Number) settings.getOrDefault("deliberation_s", 2.0)).doubleValue();
    }

    /** Seconds that one decision may take. */
    double seconds() {
        return limits.seconds();
    }

    String policy() {
        return program.policy();
    }

    void begin(Map<String, Object> start) {
        String name = (String) start.getOrDefault("agent", "");
        long seed = Json.whole(start.get("seed"));
        episodes.put(Json.whole(start.get("episode")), program.begin(name.isEmpty() ? agent : name, seed));
    }

    void end(Map<String, Object> end) {
        episodes.remove(Json.whole(end.get("episode")));
    }

    /** The answer to every question, in one message. */
    Map<String, Object> answer(long slot, Questions questions) {
        List<Object> ids = new ArrayList<>();
        List<Object> extras = new ArrayList<>();
        List<Object> problems = new ArrayList<>();
        Values values = new Values();
        for (int k = 0; k < questions.size(); k++) {
            Interpreter.Agent mind = episodes.get(questions.episode(k));
            Map<String, Object> extra = new LinkedHashMap<>();
            try {
                values.add(decide(mind, questions, k, extra));
                ids.add(questions.id(k));
            } catch (Undecided error) {
                Object printed = mind.thought().getOrDefault("printed", List.of());
                String raw = String.join("; ", Json.<String>list(printed));
                problems.add(Map.of("id", questions.id(k), "reason", error.getMessage(), "raw", raw));
            }
            extra.put("bdi", mind.thought());
            extras.add(Map.of("id", questions.id(k), "json", Json.write(extra)));
        }
        Map<String, Object> replies = new LinkedHashMap<>();
        replies.put("slot", slot);
        replies.put("ids", ids);
        replies.put("action", ids.isEmpty() ? List.of() : List.of(Map.of("data", values.text())));
        replies.put("extras", extras);
        replies.put("problems", problems);
        return replies;
    }

    private byte[] decide(Interpreter.Agent mind, Questions questions, int k, Map<String, Object> extra)
            throws Undecided {
        List<String> facts = new ArrayList<>(questions.facts(k));
        legal(questions, k, facts);
        String reason = questions.reason(k);
        if (!reason.isEmpty()) {
            facts.add("refused(" + quoted(reason) + ")");
        }
        Interpreter.Choice choice;
        try {
            choice = mind.decide(questions.step(k), facts, questions.messages(k), limits);
        } catch (Undecided error) {
            if (noop == null) {
                throw error;
            }
            String said = mind.told();
            if (!said.isEmpty()) {
                extra.put("said", said);
            }
            return space.bytes(Json.whole(noop));
        }
        if (!choice.said().isEmpty()) {
            extra.put("said", choice.said());
        }
        return space.bytes(choice.word() == null ? choice.numbers() : new double[] {number(choice.word(), questions, k)});
    }

    /** Legal actions as facts, where not all are. */
    private void legal(Questions questions, int k, List<String> facts) {
        Map<String, Long> choices = questions.choices(k);
        for (String word : choices.keySet()) {
            facts.add("legal(" + quoted(word) + ")");
        }
        byte[] mask = questions.mask(k, space.actions());
        if (!choices.isEmpty() || all(mask)) {
            return;
        }
        Map<Integer, String> names = new HashMap<>();
        words.forEach((word, place) -> names.put(place, word));
        for (int i = 0; i < mask.length; i++) {
            if (mask[i] != 0) {
                facts.add("legal(" + names.getOrDefault(i, "" + space.action(i)) + ")");
            }
        }
    }

    private static boolean all(byte[] mask) {
        for (byte each : mask) {
            if (each == 0) {
                return false;
            }
        }
        return true;
    }

    private long number(String word, Questions questions, int k) throws Undecided {
        Long here = questions.choices(k).get(word);
        if (here != null) {
            return here;
        }
        Integer place = words.get(word);
        if (place == null) {
            throw new Undecided("there is no action '" + word + "' now");
        }
        return space.action(place);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + '"';
    }

    /** Values of a column. */
    private static final class Values {
        private final java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();

        void add(byte[] value) {
            bytes.writeBytes(value);
        }

        String text() {
            return Base64.getEncoder().encodeToString(bytes.toByteArray());
        }
    }
}
