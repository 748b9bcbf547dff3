package mosaic.jason;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import mosaic.worker.Json;
import mosaic.worker.Words;

/**
 * Checks programs while they are written, as {@code spade_bdi_worker.program_check} does: one JSON object a line on
 * stdin, one back for each. Nothing of a program is run.
 */
public final class Check {
    /** What stands out in a program, the later over the earlier. */
    private static final List<List<String>> COLOURS = List.of(
            List.of("[+\\-]?[!?][a-z]\\w*", "goal"),
            List.of("^\\s*[+\\-]{1,2}[a-z]\\w*", "goal"),
            List.of("\\b[A-Z_]\\w*", "variable"),
            List.of("\\b\\d+(\\.\\d+)?\\b", "number"),
            List.of("\\b(not|true|false|div|mod|if|elif|else|while|for|fork)\\b|<-|:-|\\|&\\||\\|\\|\\|", "keyword"),
            List.of("\\.[a-z]\\w*", "keyword"),
            List.of("\"[^\"]*\"", "text"),
            List.of("//.*$", "comment"));

    private Check() {}

    /** Answers questions until stdin ends; the arguments are folders of programs to begin with. */
    public static void main(String[] folders) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // stdout belongs to the answers, whatever a library prints
        Main.prepare();
        List<Object> templates = templates(folders);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(Json.write(Map.of(
                    "problems", problems(Json.object(Json.read(line))),
                    "ending", ".asl",
                    "templates", templates,
                    "colours", COLOURS)));
        }
        Runtime.getRuntime().halt(0); // the interpreter's timers would keep it
    }

    private static List<Object> problems(Map<String, Object> asked) {
        String name = (String) asked.getOrDefault("name", "");
        Object actions = asked.get("actions");
        Source source = new Source(
                name.isEmpty() ? "program.asl" : name,
                (String) asked.getOrDefault("text", ""),
                Words.numbers(Json.list(actions)).keySet(),
                Words.skills(Json.list(actions)),
                asked.get("folder") instanceof String folder && !folder.isEmpty() ? Path.of(folder) : null);
        List<Object> told = new ArrayList<>();
        for (Source.Problem problem : source.problems(actions != null)) {
            Map<String, Object> each = new LinkedHashMap<>();
            each.put("line", problem.line());
            each.put("text", problem.text());
            each.put("word", problem.word());
            told.add(each);
        }
        return told;
    }

    private static List<Object> templates(String[] folders) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String folder : folders) {
            if (Files.isDirectory(Path.of(folder))) {
                try (DirectoryStream<Path> found = Files.newDirectoryStream(Path.of(folder), "*.asl")) {
                    found.forEach(files::add);
                }
            }
        }
        files.sort(null);
        List<Object> templates = new ArrayList<>();
        for (Path file : files) {
            templates.add(Map.of("name", file.getFileName().toString(), "text", Files.readString(file)));
        }
        return templates;
    }
}
