package mosaic.jason;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What happened in an agent for one decision; recorded beside the action. */
final class Thought {
    private static final int LONGEST_TOLD = 4000;

    final List<String> added = new ArrayList<>();
    final List<String> removed = new ArrayList<>();
    final List<String> goals = new ArrayList<>();
    final List<String> failed = new ArrayList<>();
    final List<String> printed = new ArrayList<>();
    String plan = "";

    /** Plain data; what is empty is left out. */
    Map<String, Object> record() {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("added", added);
        row.put("removed", removed);
        row.put("goals", goals);
        row.put("plan", plan);
        row.put("failed", bounded(failed));
        row.put("printed", bounded(printed));
        row.values().removeIf(value -> value.equals("") || value.equals(List.of()));
        return row;
    }

    /** Lines up to so many characters; then one that says how much is not kept. */
    private static List<String> bounded(List<String> lines) {
        int room = LONGEST_TOLD;
        for (int k = 0; k < lines.size(); k++) {
            String line = lines.get(k);
            if (line.length() > room) {
                List<String> kept = new ArrayList<>(lines.subList(0, k));
                long cut = lines.stream().skip(k).mapToLong(String::length).sum();
                if (room > 0) {
                    boolean splits = Character.isHighSurrogate(line.charAt(room - 1));
                    String begun = line.substring(0, splits ? room - 1 : room);
                    kept.add(begun);
                    cut -= begun.length();
                }
                kept.add(String.format(Locale.ROOT, "(cut here: %,d more characters are not kept)", cut));
                return kept;
            }
            room -= line.length() + 1;
        }
        return lines;
    }
}
