package mosaic.worker;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** MOSAIC's worker protocol on stdin and stdout, one JSON object per line: docs/worker_protocol.md. */
public final class Conversation {
    /** One step of the interpreter may last so many times as long as a decision. */
    private static final double PATIENCE = 5;
    /** And so many seconds, which a machine with much else to do takes. */
    private static final double MARGIN_S = 3;

    private final String worker;
    private final String version;
    private final Interpreter interpreter;
    private final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false);
    private final Map<Long, Player> players = new HashMap<>();
    /** When the decision at work has to be done at last, in nanoseconds; null between decisions. */
    private volatile Long overdue;

    public Conversation(String worker, String version, Interpreter interpreter) {
        this.worker = worker;
        this.version = version;
        this.interpreter = interpreter;
        System.setOut(System.err); // stdout belongs to the protocol, whatever a library prints
    }

    /** Answer until the host says that it is over, or is gone; what cannot go on says why. */
    public void run() {
        try {
            converse();
        } catch (OutOfMemoryError error) {
            say("failed", Map.of("reason", "its memory is full: " + error.getMessage()));
        } catch (IOException | RuntimeException | Error error) {
            say("failed", Map.of("reason", "it cannot go on: " + error));
        }
    }

    private void converse() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map.Entry<String, Object> message = Json.object(Json.read(line)).entrySet().iterator().next();
            Map<String, Object> body = Json.object(message.getValue());
            switch (message.getKey()) {
                case "hello" -> greet(body);
                case "load" -> load(body);
                case "work" -> work(body);
                case "shutdown" -> {
                    return;
                }
                default -> { } // later versions may say more
            }
        }
    }

    private void greet(Map<String, Object> hello) {
        say("welcome", Map.of(
                "protocol", 1, "worker", worker, "version", version, "pid", ProcessHandle.current().pid(), "alive", true,
                "inputs", List.of("facts", "messages")));
        double seconds = ((Number) hello.getOrDefault("heartbeat_s", 0L)).doubleValue();
        Thread beat = new Thread(() -> beat(seconds), "alive");
        beat.setDaemon(true);
        beat.start();
    }

    private void beat(double seconds) {
        long next = System.nanoTime();
        while (true) {
            try {
                Thread.sleep(250);
            } catch (InterruptedException error) {
                return;
            }
            Long until = overdue;
            if (until != null && System.nanoTime() - until > 0) {
                stuck();
            }
            if (seconds > 0 && System.nanoTime() - next > 0) {
                say("alive", Map.of());
                next = System.nanoTime() + (long) (seconds * 5e8);
            }
        }
    }

    /** A thread of Java cannot be ended from outside: a step that has no end takes the process with it. */
    private void stuck() {
        String why = "one step of the interpreter has no end, and the program's deadline is long over";
        say("failed", Map.of("reason", why));
        Runtime.getRuntime().halt(1);
    }

    private void load(Map<String, Object> load) {
        long slot = Json.whole(load.get("slot"));
        try {
            Player player = new Player(load, interpreter);
            players.put(slot, player);
            say("loaded", Map.of("slot", slot, "policy", player.policy()));
        } catch (Refused error) {
            say("loaded", Map.of("slot", slot, "error", error.getMessage()));
        }
    }

    private void work(Map<String, Object> work) {
        long slot = Json.whole(work.get("slot"));
        Player player = players.get(slot);
        if (player == null) {
            return; // it was refused
        }
        for (Object end : Json.list(work.get("ends"))) {
            player.end(Json.object(end));
        }
        for (Object start : Json.list(work.get("starts"))) {
            player.begin(Json.object(start));
        }
        Questions questions = new Questions(Json.object(work.get("questions")));
        if (questions.size() > 0) {
            double seconds = (questions.size() + PATIENCE) * player.seconds() + MARGIN_S;
            overdue = System.nanoTime() + (long) (seconds * 1e9);
            Map<String, Object> replies = player.answer(slot, questions);
            overdue = null;
            say("replies", replies);
        }
    }

    private void say(String kind, Map<String, Object> body) {
        byte[] line = (Json.write(Map.of(kind, body)) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (out) {
            out.write(line, 0, line.length);
            out.flush();
        }
    }
}
