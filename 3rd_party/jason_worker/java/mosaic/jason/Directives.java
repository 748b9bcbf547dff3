package mosaic.jason;

import jason.JasonException;
import jason.asSemantics.Agent;
import jason.asSyntax.Pred;
import jason.asSyntax.StringTerm;
import jason.asSyntax.directives.DefaultDirective;
import jason.asSyntax.directives.DirectiveProcessor;
import jason.asSyntax.parser.ParseException;
import jason.asSyntax.parser.TokenMgrError;
import jason.asSyntax.parser.as2j;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * In the place of directives that read other files, or load classes: a file of the program's own folder is included,
 * nothing else. Public for the interpreter, which makes it.
 */
public final class Directives extends DefaultDirective {
    static final long MAX_BYTES = 1_000_000;
    private static final int MOST_DEEP = 8;

    /** Where files may be included from; null: nowhere. Programs are read one after the other. */
    private static Path folder;

    private static long room;
    /** Files that are being read, the innermost last. */
    private static final Deque<String> WITHIN = new ArrayDeque<>();

    private int line;

    /** One stands in a program that is not done, or what it includes is wrong. */
    static final class Found extends RuntimeException {
        private static final long serialVersionUID = 1;

        final int line;
        final String word;

        private Found(String message, int line, String word) {
            super(message);
            this.line = line;
            this.word = word;
        }
    }

    /** Have the interpreter's own done no more. */
    static void register() {
        DirectiveProcessor.registerDirective("include", Directives.class);
        DirectiveProcessor.registerDirective("register_function", Directives.class);
    }

    /** A program of this folder is read next; null where its folder is not known. */
    static void expect(String name, String text, Path folder) {
        Directives.folder = folder;
        room = MAX_BYTES - text.getBytes(StandardCharsets.UTF_8).length;
        WITHIN.clear();
        WITHIN.addLast(name);
    }

    @Override
    public void begin(Pred directive, as2j parser) {
        line = parser.token.beginLine;
        if (!directive.getFunctor().equals("include")) {
            throw found("there is no directive " + directive.getFunctor() + " here", directive.getFunctor());
        }
    }

    @Override
    public Agent process(Pred directive, Agent outer, Agent inner) {
        if (directive.getArity() != 1 || !(directive.getTerm(0) instanceof StringTerm named)) {
            throw found("a file is included by { include(\"name.asl\") }", "include");
        }
        String file = named.getString();
        try {
            String text = read(file);
            WITHIN.addLast(file);
            as2j parser = new as2j(new StringReader(text));
            parser.setASLSource(file);
            Agent included = new Agent();
            included.initAg();
            parser.agent(included);
            WITHIN.removeLast();
            return included;
        } catch (ParseException error) {
            throw found(Source.worded(error).told(file), "include");
        } catch (TokenMgrError error) {
            throw found(file + ": this has no end, or is no AgentSpeak", "include");
        } catch (JasonException | IOException error) {
            throw found(file + " is not included: " + error.getMessage(), "include");
        }
    }

    private Found found(String what, String word) {
        String file = WITHIN.size() > 1 ? WITHIN.peekLast() + ", line " + line + ": " : "";
        return new Found(file + what, WITHIN.size() > 1 ? 0 : line, word);
    }

    private static String read(String file) throws IOException {
        if (folder == null) {
            throw new IOException("where the program's own file is, is not known here");
        }
        if (WITHIN.contains(file)) {
            throw new IOException("it is part of itself");
        }
        if (WITHIN.size() > MOST_DEEP) {
            throw new IOException("files are included " + MOST_DEEP + " deep at most");
        }
        byte[] content = bytes(file);
        room -= content.length;
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
            return Source.withoutByteOrder(text);
        } catch (CharacterCodingException error) {
            throw new IOException("it is not UTF-8", error);
        }
    }

    /** A file below the folder, by a path without links. */
    private static byte[] bytes(String file) throws IOException {
        String[] parts = file.split("/", -1);
        Path path = folder;
        for (String part : parts) {
            if (part.isEmpty() || part.equals("..") || part.matches(".*[\\\\:\\x00].*")) {
                throw new IOException("name a file in the program's own folder, or below it");
            }
            path = path.resolve(part);
            if (Files.isSymbolicLink(path)) {
                throw new IOException("links are not followed");
            }
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("it is no file");
        }
        try (InputStream stream = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
            byte[] content = stream.readNBytes((int) room + 1);
            if (content.length > room) {
                throw new IOException(
                        String.format("a program has %,d bytes at most, with all that it includes", MAX_BYTES));
            }
            return content;
        } catch (NoSuchFileException error) {
            throw new IOException("No such file or directory", error);
        }
    }
}
