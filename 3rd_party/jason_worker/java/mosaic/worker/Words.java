package mosaic.worker;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What programs call the environment's actions: the same atoms as in Python's worker. */
public final class Words {
    private Words() {}

    /** {@code go_to_yellow_key} of {@code "go to(yellow key)"}. */
    public static String atom(String word) {
        String plain = word.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_]+", "_").replaceAll("^_+|_+$", "");
        return plain.matches("\\p{L}.*") ? plain : "n" + plain;
    }

    /** The number of each action, by its atom. */
    public static Map<String, Integer> numbers(List<String> meanings) {
        Map<String, Integer> words = new LinkedHashMap<>();
        for (int k = 0; k < meanings.size(); k++) {
            words.put(atom(meanings.get(k)), k);
        }
        return words;
    }

    /** The atoms of actions that have parameters: {@code go_to} of {@code "go to(yellow key)"}. */
    public static Set<String> skills(List<String> meanings) {
        Set<String> skills = new LinkedHashSet<>();
        for (String word : meanings) {
            if (word.contains("(")) {
                skills.add(atom(word.substring(0, word.indexOf('('))));
            }
        }
        return skills;
    }
}
