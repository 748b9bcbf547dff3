package mosaic.jason;

import jason.JasonException;
import jason.asSyntax.Literal;
import jason.asSyntax.Plan;
import jason.asSyntax.PlanBody;
import jason.asSyntax.PlanBody.BodyType;
import jason.asSyntax.SourceInfo;
import jason.asSyntax.parser.ParseException;
import jason.asSyntax.parser.Token;
import jason.asSyntax.parser.TokenMgrError;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import mosaic.worker.Interpreter;
import mosaic.worker.Refused;

/**
 * An AgentSpeak program that can be run.
 *
 * @param name Of its file.
 * @param text As it stands there.
 * @param words What the environment's actions are called.
 * @param skills What is called with parameters among them.
 * @param folder Where it lies, for what it includes; null: it includes nothing.
 */
record Source(String name, String text, Set<String> words, Set<String> skills, Path folder) implements Interpreter.Program {
    /** Some editors put it ahead of a text. */
    private static final String BYTE_ORDER = "\ufeff";
    private static final Pattern LINE = Pattern.compile("line (\\d+)");
    private static final Map<String, String> TOKENS = Map.of(
            "<VAR>", "a variable", "<UNNAMEDVAR>", "a variable", "<UNNAMEDVARID>", "a variable", "<ATOM>", "a name",
            "<NUMBER>", "a number", "<STRING>", "a string", "<EOF>", "the end");

    static Source read(String file, Set<String> words, Set<String> skills) throws Refused {
        Path path = Path.of(file);
        String text;
        try {
            if (!Files.isRegularFile(path)) {
                throw new Refused(file + " cannot be read: it is no file");
            }
            if (Files.size(path) > Directives.MAX_BYTES) {
                throw new Refused(file + " cannot be read: it has more than " + Directives.MAX_BYTES + " bytes");
            }
            text = Files.readString(path, StandardCharsets.UTF_8);
        } catch (CharacterCodingException error) {
            throw new Refused(file + " cannot be read: it is not UTF-8");
        } catch (AccessDeniedException error) {
            throw new Refused(file + " cannot be read: permission denied");
        } catch (IOException error) {
            throw new Refused(file + " cannot be read: " + error.getMessage());
        }
        Path folder = path.toAbsolutePath().getParent();
        Source source = new Source(path.getFileName().toString(), withoutByteOrder(text), words, skills, folder);
        List<Problem> problems = source.problems(true);
        if (!problems.isEmpty()) {
            List<String> told = problems.stream().limit(3).map(problem -> problem.told(source.name)).toList();
            throw new Refused(String.join("; ", told));
        }
        return source;
    }

    static String withoutByteOrder(String text) {
        return text.startsWith(BYTE_ORDER) ? text.substring(1) : text;
    }

    @Override
    public String policy() {
        return "jason:" + name;
    }

    @Override
    public Interpreter.Agent begin(String agent, long seed) {
        try {
            return new Episode(this, agent, seed);
        } catch (ParseException | JasonException error) {
            throw new IllegalStateException(error); // it was read before
        }
    }

    /**
     * Something wrong in a program.
     *
     * @param line Its line, from 1; 0: the whole file.
     * @param text What is wrong, as a sentence.
     * @param word The word that is; empty: the whole line.
     */
    record Problem(int line, String text, String word) {
        String told(String name) {
            return name + (line > 0 ? ", line " + line : "") + ": " + text;
        }
    }

    /**
     * Find all that is wrong before anything is played.
     *
     * @param actions Whether the environment's actions are known, and steps of plans held against them.
     */
    List<Problem> problems(boolean actions) {
        List<Problem> problems = new ArrayList<>();
        try {
            Mind mind = new Mind(new Body("nobody", name));
            mind.parse(this);
            for (Plan plan : mind.getPL()) {
                check(plan, plan.getContext(), actions, problems);
                check(plan, plan.getBody(), actions, problems);
            }
        } catch (ParseException error) {
            problems.add(worded(error));
        } catch (TokenMgrError error) {
            Matcher found = LINE.matcher(error.getMessage());
            int line = found.find() ? Integer.parseInt(found.group(1)) : 1;
            problems.add(new Problem(line, "this has no end, or is no AgentSpeak", ""));
        } catch (JasonException error) {
            problems.add(new Problem(0, String.valueOf(error.getMessage()), ""));
        } catch (StackOverflowError error) {
            problems.add(new Problem(0, "it is nested too deeply", ""));
        } catch (Directives.Found error) {
            problems.add(new Problem(error.line, error.getMessage(), error.word));
        } catch (RuntimeException error) {
            String what = "the interpreter cannot read it, as with a directive that there is not: { like(this) }";
            problems.add(new Problem(0, what, ""));
        }
        return problems;
    }

    private void check(Plan plan, Object part, boolean actions, List<Problem> problems) {
        if (part instanceof PlanBody body && body.getBodyTerm() != null) {
            if (actions
                    && body.getBodyType() == BodyType.action
                    && body.getBodyTerm() instanceof Literal action
                    && !action.isVar()
                    && !action.getFunctor().startsWith(".")
                    && !isAction(action)) {
                problems.add(problem(action, plan, "no such action " + Terms.text(action) + known()));
            }
            check(plan, body.getBodyTerm(), actions, problems);
            check(plan, body.getBodyNext(), actions, problems);
            return;
        }
        if (part instanceof Literal action && action.getFunctor().startsWith(".") && !action.isList() && !Mind.isKnown(action.getFunctor())) {
            problems.add(problem(action, plan, "no such action " + action.getFunctor() + " here"));
        }
        if (part instanceof Literal literal) {
            for (int k = 0; k < literal.getArity(); k++) {
                check(plan, literal.getTerm(k), actions, problems);
            }
        }
    }

    /** Whether the environment has it. */
    boolean isAction(Literal action) {
        boolean word = action.getArity() == 0 && words.contains(action.getFunctor());
        return word || skills.contains(action.getFunctor()) || isAct(action);
    }

    /** Whether it is {@code act(A)}. */
    boolean isAct(Literal action) {
        return action.getFunctor().equals("act") && action.getArity() == 1;
    }

    private String known() {
        return words.isEmpty() ? ": call them with act(A)" : ", there are: " + String.join(", ", words);
    }

    /** Something wrong at a term, in this file or in one that it includes. */
    private Problem problem(Literal term, Plan plan, String what) {
        SourceInfo place = term.getSrcInfo() != null ? term.getSrcInfo() : plan.getSrcInfo();
        boolean here = name.equals(place.getSrcFile());
        String where = here ? "" : place.getSrcFile() + ", line " + place.getSrcLine() + ": ";
        return new Problem(here ? place.getSrcLine() : 0, where + what, term.getFunctor());
    }

    static Problem worded(ParseException error) {
        if (error.currentToken == null) {
            return new Problem(0, String.valueOf(error.getMessage()), "");
        }
        Token found = error.currentToken.next;
        Set<String> expected = new LinkedHashSet<>();
        for (int[] sequence : error.expectedTokenSequences) {
            String token = error.tokenImage[sequence[0]];
            expected.add(TOKENS.getOrDefault(token, token));
        }
        String what = found.kind == 0 ? "the end" : '"' + found.image + '"';
        String known = String.join(", ", expected).replace("\\\\", "\\");
        return new Problem(found.beginLine, "expected one of " + known + "; found " + what, "");
    }
}
