package mosaic.jason;

import jason.asSyntax.ASSyntax;
import jason.asSyntax.Literal;
import jason.asSyntax.Term;
import jason.asSyntax.parser.ParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Facts and messages as the interpreter's terms, and back. */
final class Terms {
    private static final int KEPT = 20_000;
    private static final Pattern NAMELESS = Pattern.compile("(?<!\\w)_\\d+(?!\\w)");
    private static final Map<String, Literal> FACTS = new LinkedHashMap<>(1024, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Literal> eldest) {
            return size() > KEPT;
        }
    };

    private Terms() {}

    /** A ground fact; each call gives another copy. */
    static Literal fact(String text) throws ParseException {
        Literal known = FACTS.get(text);
        if (known == null) {
            // Applied, since -1 is parsed as something to be computed.
            known = (Literal) ASSyntax.parseLiteral(text).capply(null);
            FACTS.put(text, known);
        }
        return known.copy().forceFullLiteralImpl();
    }

    /** A literal as a program writes it, without where it is from. */
    static String text(Literal literal) {
        Literal plain = literal.copy();
        plain.clearAnnots();
        return text(plain.toString());
    }

    static String text(Term term) {
        return term instanceof Literal literal ? text(literal) : text(term.toString());
    }

    /** Arguments apart, as facts are written; variables without a name are {@code _}. */
    static String text(String term) {
        return NAMELESS.matcher(spaced(term)).replaceAll("_");
    }

    private static String spaced(String term) {
        StringBuilder out = new StringBuilder();
        boolean quoted = false;
        for (int k = 0; k < term.length(); k++) {
            char c = term.charAt(k);
            out.append(c);
            quoted ^= c == '"' && (k == 0 || term.charAt(k - 1) != '\\');
            if (c == ',' && !quoted && k + 1 < term.length() && term.charAt(k + 1) != ' ') {
                out.append(' ');
            }
        }
        return out.toString();
    }
}
