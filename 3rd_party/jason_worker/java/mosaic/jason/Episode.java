package mosaic.jason;

import jason.JasonException;
import jason.NoValueException;
import jason.asSemantics.Circumstance;
import jason.asSemantics.Message;
import jason.asSyntax.ASSyntax;
import jason.asSyntax.Atom;
import jason.asSyntax.ListTerm;
import jason.asSyntax.Literal;
import jason.asSyntax.NumberTerm;
import jason.asSyntax.StringTerm;
import jason.asSyntax.StringTermImpl;
import jason.asSyntax.Term;
import jason.asSyntax.parser.ParseException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import mosaic.worker.Interpreter;
import mosaic.worker.Undecided;
import mosaic.worker.Words;

/** An agent of a program in one episode. */
final class Episode implements Interpreter.Agent {
    private static final Pattern MESSAGE = Pattern.compile(
            "\\.(send|broadcast)\\((?:(?<to>\\w+), )?"
                    + "(?<force>tell|untell|achieve|unachieve|askOne|askAll)(?:\\[(?<tag>id|re)\\((?<number>\\w+)\\)\\])?, "
                    + "(?<content>.*)\\)",
            Pattern.DOTALL);

    private final Source source;
    private final long seed;
    private final Body body;
    private final Mind mind;
    private boolean begun;

    Episode(Source source, String name, long seed) throws ParseException, JasonException {
        this.source = source;
        this.seed = seed;
        body = new Body(name, source.name());
        mind = new Mind(body);
        mind.load(source);
    }

    @Override
    public Map<String, Object> thought() {
        return body.thought.record();
    }

    @Override
    public Interpreter.Choice decide(long step, List<String> facts, List<String> heard, Interpreter.Limits limits)
            throws Undecided {
        body.thought = new Thought();
        body.numbers.seed(seed, step);
        Ear.listenFor(body.thought.printed);
        long until = System.nanoTime() + (long) (limits.seconds() * 1e9);
        mind.beliefs().limit(until);
        try {
            if (body.acted != null) {
                body.acted.setResult(true);
                mind.getTS().getC().addFeedbackAction(body.acted);
                body.acted = null;
            }
            see(facts);
            heard.forEach(this::hear);
            if (!begun) {
                begun = true;
                mind.addInitialGoalsInTS();
            }
            return deliberate(limits.cycles(), until);
        } catch (Beliefs.Overdue error) {
            throw new Undecided("the program has not come to an action within its deadline");
        } catch (StackOverflowError error) {
            throw new Undecided("the program's rules call each other without end");
        } catch (RuntimeException error) {
            throw new Undecided("the interpreter failed: " + error);
        }
    }

    private void see(List<String> facts) throws Undecided {
        try {
            mind.perceive(facts, body.thought);
        } catch (ParseException | JasonException error) {
            throw new Undecided("a fact is no literal: " + error.getMessage());
        }
    }

    /** Each line is a message of a program, or something that an agent has said in words. */
    private void hear(String words) {
        int colon = words.indexOf(": ");
        String sender = words.substring(0, Math.max(0, colon));
        for (String line : words.substring(colon < 0 ? 0 : colon + 2).split("\n")) {
            Matcher found = MESSAGE.matcher(line.strip());
            Message message = found.matches() ? message(sender, found) : null;
            if (message == null) {
                Literal said = ASSyntax.createLiteral("said", new Atom(sender), new StringTermImpl(line));
                message = new Message("tell", sender, body.getAgName(), said);
            } else if (found.group("to") != null && !found.group("to").equals(body.getAgName())) {
                continue;
            }
            mind.getTS().getC().addMsg(message);
        }
    }

    /** A message of a program; null where it is other words after all. */
    private Message message(String sender, Matcher found) {
        String force = found.group("force");
        boolean asks = force.startsWith("ask");
        boolean answers = "re".equals(found.group("tag"));
        if (asks != "id".equals(found.group("tag"))) { // a question has a number, and nothing else has one of its own
            return null;
        }
        try {
            String content = found.group("content");
            Term term = answers && content.startsWith("[") ? ASSyntax.parseTerm(content) : Terms.fact(content);
            Message message = new Message(force, sender, body.getAgName(), term);
            if (asks) {
                message.setMsgId(found.group("number"));
            } else if (answers) {
                message.setInReplyTo(body.asked.get(found.group("number")));
            }
            return message;
        } catch (ParseException | RuntimeException error) {
            return null;
        }
    }

    @Override
    public String told() {
        return body.told();
    }

    /** Go on with what is intended until there is an action. */
    private Interpreter.Choice deliberate(long cycles, long until) throws Undecided {
        for (long cycle = 0; cycle < cycles; cycle++) {
            if (mind.getTS().canSleep()) {
                throw new Undecided(idle());
            }
            mind.getTS().reasoningCycle();
            if (body.acted != null) {
                Interpreter.Choice choice = choice(body.acted.getActionTerm());
                if (choice != null) {
                    return choice;
                }
            }
            if (cycle % 64 == 0 && System.nanoTime() - until > 0) {
                throw new Beliefs.Overdue();
            }
        }
        throw new Undecided("the program has not come to an action within " + cycles + " steps of the interpreter");
    }

    private String idle() {
        List<String> failed = body.thought.failed;
        Circumstance now = mind.getTS().getC();
        if (!failed.isEmpty()) {
            return "the program has nothing left to do: " + failed.get(failed.size() - 1);
        }
        if (now.hasPendingIntention() || now.hasPendingEvent()) {
            return "the program waits and chooses no action";
        }
        return "the program has nothing left to do and chooses no action";
    }

    /** A call as one atom: {@code go_to(yellow, key)}, and {@code go_to(yellow_key)}, is {@code go_to_yellow_key}. */
    private static String called(Literal action) {
        StringBuilder parts = new StringBuilder(action.getFunctor());
        for (int k = 0; k < action.getArity(); k++) {
            Term each = action.getTerm(k);
            parts.append('_').append(each instanceof StringTerm text ? text.getString() : each.toString());
        }
        return action.getArity() == 0 ? action.getFunctor() : Words.atom(parts.toString());
    }

    /**
     * What its action is in the environment; null where there is no such action, and the plan has failed.
     *
     * @throws Undecided It is a skill, and not one with these parameters.
     */
    private Interpreter.Choice choice(Literal action) throws Undecided {
        if (!source.isAction(action)) {
            body.acted.setFailureReason(new Atom("no_such_action"), "there is no action " + Terms.text(action));
            body.acted.setResult(false);
            mind.getTS().getC().addFeedbackAction(body.acted);
            body.acted = null;
            return null;
        }
        String called = called(action);
        if (source.words().contains(called)) {
            return new Interpreter.Choice(called, null, body.told());
        }
        if (!source.isAct(action)) {
            throw new Undecided("there is no action " + Terms.text(action) + " here");
        }
        Term given = action.getTerm(0);
        if (given instanceof ListTerm list) {
            return new Interpreter.Choice(null, list.stream().mapToDouble(Episode::number).toArray(), body.told());
        }
        if (given instanceof NumberTerm) {
            return new Interpreter.Choice(null, new double[] {number(given)}, body.told());
        }
        String word = given instanceof StringTerm text ? text.getString() : given.toString();
        return new Interpreter.Choice(word, null, body.told());
    }

    private static double number(Term term) {
        try {
            return term instanceof NumberTerm value ? value.solve() : Double.NaN;
        } catch (NoValueException error) {
            return Double.NaN;
        }
    }
}
