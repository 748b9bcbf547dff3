package mosaic.jason;

import jason.JasonException;
import jason.architecture.AgArch;
import jason.asSemantics.ActionExec;
import jason.asSemantics.IntendedMeans;
import jason.asSemantics.Message;
import jason.asSyntax.Literal;
import jason.asSyntax.Plan;
import jason.asSyntax.Term;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What an agent has of the world: its name, the action that it has chosen, what it says to its team. */
final class Body extends AgArch {
    private static final long serialVersionUID = 1;
    private static final int LONGEST_SAID = 1000;
    private static final List<String> FORCES = List.of("tell", "untell", "achieve", "unachieve", "askOne", "askAll");

    final StringBuilder said = new StringBuilder();
    final Numbers numbers = new Numbers();
    Thought thought = new Thought();
    ActionExec acted;
    private final String name;
    private final String program;
    /** The interpreter's own number of each question. */
    final Map<String, String> asked = new HashMap<>();

    Body(String name, String program) {
        this.name = name;
        this.program = program;
    }

    @Override
    public String getAgName() {
        return name;
    }

    /** {@link Mind} adds percepts once per decision, not in each cycle. */
    @Override
    public Collection<Literal> perceive() {
        return null;
    }

    @Override
    public void act(ActionExec action) {
        acted = action;
        thought.goals.clear();
        for (IntendedMeans means : action.getIntention()) {
            thought.goals.add(Terms.text(means.getTrigger().getLiteral()));
        }
        Collections.reverse(thought.goals);
        Plan plan = action.getIntention().peek().getPlan();
        String context = plan.getContext() == null ? "" : " : " + Terms.text(plan.getContext().toString());
        int line = plan.getSrcInfo() == null ? 0 : plan.getSrcInfo().getSrcLine();
        String file = plan.getSrcInfo() == null ? null : plan.getSrcInfo().getSrcFile();
        String where = file == null || file.equals(program) ? "" : file + ", ";
        thought.plan = where + "line " + line + ": " + Terms.text(plan.getTrigger().toString()) + context;
    }

    @Override
    public void sendMsg(Message message) throws Exception {
        tell(".send(" + message.getReceiver() + ", " + content(message));
    }

    @Override
    public void broadcast(Message message) throws Exception {
        tell(".broadcast(" + content(message));
    }

    private String content(Message message) throws JasonException {
        if (!FORCES.contains(message.getIlForce())) {
            throw new JasonException("team-mates are told " + String.join(", ", FORCES) + ", not " + message.getIlForce());
        }
        Object content = message.getPropCont();
        String text = content instanceof Term term ? Terms.text(term) : String.valueOf(content);
        return message.getIlForce() + tag(message) + ", " + text + ")";
    }

    /** Which question it is, or answers: its number in the episode, as the interpreter's own go on through all of them. */
    private String tag(Message message) {
        if (message.isAsk()) {
            String number = "q" + (asked.size() + 1);
            asked.put(number, message.getMsgId());
            return "[id(" + number + ")]";
        }
        return message.getInReplyTo() == null ? "" : "[re(" + message.getInReplyTo() + ")]";
    }

    /** What is said to the team, once: it goes with an action, so that one that waits speaks with its next. */
    String told() {
        String words = said.toString();
        said.setLength(0);
        return words;
    }

    private void tell(String text) throws JasonException {
        if (said.length() + text.length() + 1 > LONGEST_SAID) {
            throw new JasonException("more than " + LONGEST_SAID + " characters are said to the team with one action");
        }
        said.append(said.isEmpty() ? "" : "\n").append(text);
    }

    /** Shuffle with the episode's random numbers. */
    void shuffle(List<Term> terms) {
        for (int last = terms.size() - 1; last > 0; last--) {
            Collections.swap(terms, last, numbers.nextInt(last + 1));
        }
    }
}
