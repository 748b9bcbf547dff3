package mosaic.worker;

import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The decisions that are wanted with one message: lists of one length, those that are empty left out. */
final class Questions {
    private final Map<String, Object> fields;
    private final List<Object> ids;
    private final byte[] masks;

    Questions(Map<String, Object> fields) {
        this.fields = fields;
        ids = Json.list(fields.get("ids"));
        masks = Base64.getDecoder().decode((String) fields.getOrDefault("masks", ""));
    }

    int size() {
        return ids.size();
    }

    Object id(int k) {
        return ids.get(k);
    }

    long episode(int k) {
        return Json.whole(entry("episodes", k));
    }

    long step(int k) {
        return Json.whole(entry("steps", k));
    }

    /** Why the attempt before was refused; empty where none was. */
    String reason(int k) {
        Object reason = entry("reasons", k);
        return reason == null ? "" : (String) reason;
    }

    List<String> facts(int k) {
        return Json.list(Json.object(entry("facts", k)).get("facts"));
    }

    List<String> messages(int k) {
        return Json.list(Json.object(entry("messages", k)).get("texts"));
    }

    /** Legal actions by their words of now, where these change. */
    Map<String, Long> choices(int k) {
        Map<String, Object> choices = Json.object(entry("choices", k));
        List<Object> actions = Json.list(choices.get("actions"));
        List<String> words = Json.list(choices.get("words"));
        Map<String, Long> found = new LinkedHashMap<>();
        for (int i = 0; i < words.size(); i++) {
            found.put(words.get(i), Json.whole(actions.get(i)));
        }
        return found;
    }

    /** 1 for each action that is legal; empty where all are. */
    byte[] mask(int k, int actions) {
        return masks.length == 0 ? masks : Arrays.copyOfRange(masks, k * actions, (k + 1) * actions);
    }

    private Object entry(String name, int k) {
        List<Object> list = Json.list(fields.get(name));
        return k < list.size() ? list.get(k) : null;
    }
}
