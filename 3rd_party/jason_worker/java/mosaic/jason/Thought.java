package mosaic.jason;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What happened in an agent for one decision; recorded beside the action. */
final class Thought {
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
        row.put("failed", failed);
        row.put("printed", printed);
        row.values().removeIf(value -> value.equals("") || value.equals(List.of()));
        return row;
    }
}
