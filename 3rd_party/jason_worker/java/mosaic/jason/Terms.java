package mosaic.jason;

import jason.asSyntax.Literal;
import jason.asSyntax.Term;
import jason.asSyntax.parser.ParseException;
import jason.asSyntax.parser.TokenMgrError;
import jason.asSyntax.parser.as2j;
import jason.asSyntax.parser.as2jConstants;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Facts and messages as the interpreter's terms, and back. */
final class Terms {
    private static final int KEPT = 20_000;
    private static final Pattern PIECE = Pattern.compile(
            "\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|((?<!\\w)_\\d+(?!\\w))|(,)(?=[^ ])", Pattern.DOTALL);
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
            known = (Literal) parsed(text).capply(null);
            FACTS.put(text, known);
        }
        return known.copy().forceFullLiteralImpl();
    }

    private static Literal parsed(String text) throws ParseException {
        try {
            as2j parser = new as2j(new StringReader(text));
            Literal literal = parser.literal();
            if (parser.getNextToken().kind != as2jConstants.EOF) {
                throw new ParseException("it goes on behind the literal");
            }
            return literal;
        } catch (TokenMgrError | StackOverflowError error) { // others' words can be anything
            throw new ParseException("it is no literal");
        }
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

    /** Arguments apart, as facts are written; variables without a name are {@code _}; quotations as they are. */
    static String text(String term) {
        return PIECE.matcher(term).replaceAll(piece -> {
            if (piece.group(1) != null) {
                return "_";
            }
            return piece.group(2) != null ? ", " : Matcher.quoteReplacement(piece.group());
        });
    }
}
