package mosaic.jason;

import jason.JasonException;
import jason.RevisionFailedException;
import jason.asSemantics.Agent;
import jason.asSemantics.ArithFunction;
import jason.asSemantics.Event;
import jason.asSemantics.Intention;
import jason.asSemantics.InternalAction;
import jason.asSyntax.Literal;
import jason.asSyntax.Trigger;
import jason.asSyntax.Trigger.TEOperator;
import jason.asSyntax.Trigger.TEType;
import jason.asSyntax.parser.ParseException;
import jason.bb.BeliefBase;
import java.io.StringReader;
import java.lang.reflect.InvocationTargetException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Jason's agent, told what it sees, and with its random numbers from the episode's seed. */
final class Mind extends Agent {
    private static final long serialVersionUID = 1;
    private static final String STDLIB = "jason.stdlib";
    /** What reaches past the agent, or would make a run differ from its repetition. */
    private static final Set<String> REFUSED = Set.of(
            ".clone", ".create_agent", ".df_deregister", ".df_register", ".df_search", ".df_subscribe", ".include",
            ".kill_agent", ".list_files", ".save_agent", ".set_random_seed", ".stopMAS", ".verbose");

    final Body body;
    private Set<String> sees = new LinkedHashSet<>();

    Mind(Body body) {
        this.body = body;
        Reasoner reasoner = new Reasoner(this, body);
        body.setTS(reasoner);
        setBB(new Beliefs());
        initAg();
    }

    /** Its program, and how it answers messages. */
    void load(Source source) throws ParseException, JasonException {
        parse(source);
        addInitialBelsInBB();
        try {
            loadKqmlPlans();
        } catch (ParseException | JasonException error) {
            throw error;
        } catch (Exception error) {
            throw new JasonException("the interpreter's own plans cannot be read", error);
        }
        addInitialBelsInBB();
    }

    void parse(Source source) throws ParseException, JasonException {
        Directives.expect(source.name(), source.text(), source.folder());
        parseAS(new StringReader(source.text()), source.name());
        setASLSrc(source.name());
    }

    Beliefs beliefs() {
        return (Beliefs) getBB();
    }

    /** No inspector is started, and no port opened. */
    @Override
    public void addToMindInspectorWeb() {}

    /** Whether programs may call an internal action. */
    static boolean isAllowed(String name) {
        String plain = name.startsWith(STDLIB + ".") ? name.substring(STDLIB.length()) : name;
        return plain.startsWith(".") && !REFUSED.contains(plain);
    }

    /** Whether there is such an internal action, and programs may call it. */
    static boolean isKnown(String name) {
        try {
            String full = name.startsWith(".") ? STDLIB + name : name;
            return isAllowed(name) && InternalAction.class.isAssignableFrom(Class.forName(full));
        } catch (ClassNotFoundException | LinkageError error) {
            return false;
        }
    }

    @Override
    public InternalAction getIA(String name) throws ClassNotFoundException, InstantiationException,
            IllegalAccessException, InvocationTargetException, NoSuchMethodException {
        if (!isAllowed(name)) {
            throw new ClassNotFoundException("there is no internal action " + name + " here");
        }
        switch (name.substring(name.lastIndexOf('.'))) {
            case ".random":
                return new Chance.Draw(body);
            case ".shuffle":
                return new Chance.Shuffle(body);
            default:
                return super.getIA(name);
        }
    }

    @Override
    public ArithFunction getFunction(String name, int arity) {
        return name.equals("math.random") ? new Chance.Number(body) : super.getFunction(name, arity);
    }

    /** Beliefs that a message or a plan adds or removes are part of what was thought. */
    @Override
    public List<Literal>[] brf(Literal add, Literal del, Intention intention, boolean last) throws RevisionFailedException {
        List<Literal>[] changed = super.brf(add, del, intention, last);
        if (changed != null) {
            changed[0].forEach(belief -> body.thought.added.add(Terms.text(belief)));
            changed[1].forEach(belief -> body.thought.removed.add(Terms.text(belief)));
        }
        return changed;
    }

    /** What it saw and sees no more, and what it sees now; both are events. */
    void perceive(List<String> facts, Thought thought) throws ParseException, JasonException {
        Set<String> now = new LinkedHashSet<>(facts);
        for (String fact : sees) {
            if (!now.contains(fact)) {
                Literal belief = percept(fact);
                thought.removed.add(fact);
                getBB().remove(belief);
                tell(TEOperator.del, percept(fact));
            }
        }
        for (String fact : now) {
            if (!sees.contains(fact)) {
                Literal belief = percept(fact);
                thought.added.add(fact);
                getBB().add(1, belief); // behind the others: plans try facts in the order in which they came
                tell(TEOperator.add, belief);
            }
        }
        sees = now;
    }

    private static Literal percept(String fact) throws ParseException {
        Literal belief = Terms.fact(fact);
        belief.addAnnot(BeliefBase.TPercept);
        return belief;
    }

    private void tell(TEOperator operator, Literal belief) {
        Trigger trigger = new Trigger(operator, TEType.belief, belief);
        getTS().updateEvents(new Event(trigger, Intention.EmptyInt));
    }
}
