package mosaic.worker;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as Java's own maps, lists, strings, numbers and booleans: what the protocol needs, without a library. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Read one value.
     *
     * @throws IllegalArgumentException The text is no JSON.
     */
    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return value;
    }

    /** An object of a message; an empty one where there is none. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    /** A list of a message; an empty one where there is none. */
    @SuppressWarnings("unchecked")
    public static <T> List<T> list(Object value) {
        return value == null ? List.of() : (List<T>) value;
    }

    /** A whole number, which protobuf writes as a number or, where it has 64 bits, as a string. */
    static long whole(Object value) {
        if (value instanceof String digits) {
            return digits.startsWith("-") ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
        }
        return value == null ? 0 : ((Number) value).longValue();
    }

    /** One value, in one line. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                quote((String) entry.getKey(), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object each : list) {
                out.append(before);
                write(each, out);
                before = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            quote(string, out);
        } else {
            out.append(value);
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private Object value() {
        space();
        char c = peek();
        if (c == '{') {
            return members();
        }
        if (c == '[') {
            return items();
        }
        if (c == '"') {
            return string();
        }
        int begin = at;
        while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0 && text.charAt(at) > ' ') {
            at++;
        }
        String word = text.substring(begin, at);
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                return number(word);
        }
    }

    private Number number(String word) {
        try {
            if (word.matches("-?\\d{1,18}")) {
                return Long.valueOf(word);
            }
            return Double.valueOf(word);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    private Map<String, Object> members() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        space();
        while (peek() != '}') {
            space();
            String name = string();
            space();
            expect(':');
            map.put(name, value());
            next('}');
        }
        at++;
        return map;
    }

    private List<Object> items() {
        List<Object> list = new ArrayList<>();
        at++;
        space();
        while (peek() != ']') {
            list.add(value());
            next(']');
        }
        at++;
        return list;
    }

    /** To the next entry, or to the end. */
    private void next(char end) {
        space();
        if (peek() != end) {
            expect(',');
            space();
        }
    }

    private String string() {
        expect('"');
        int begin = at;
        while (peek() != '"' && peek() != '\\') {
            at++;
        }
        if (text.charAt(at) == '"') {
            return text.substring(begin, at++);
        }
        StringBuilder out = new StringBuilder().append(text, begin, at);
        while (peek() != '"') {
            char c = text.charAt(at++);
            out.append(c == '\\' ? escaped() : c);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char c = peek();
        at++;
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                at += 4;
                if (at > text.length()) {
                    throw wrong();
                }
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private void expect(char c) {
        if (peek() != c) {
            throw wrong();
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }
}
