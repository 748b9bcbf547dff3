package mosaic.jason;

import jason.asSemantics.DefaultArithFunction;
import jason.asSemantics.DefaultInternalAction;
import jason.asSemantics.TransitionSystem;
import jason.asSemantics.Unifier;
import jason.asSyntax.ListTerm;
import jason.asSyntax.ListTermImpl;
import jason.asSyntax.NumberTerm;
import jason.asSyntax.NumberTermImpl;
import jason.asSyntax.Term;
import java.util.ArrayList;
import java.util.List;

/** Random numbers from the episode's seed and the step, in the place of the interpreter's own. */
final class Chance {
    private Chance() {}

    /** {@code .random(N)}, and {@code .random(List, X)}. */
    static final class Draw extends DefaultInternalAction {
        private static final long serialVersionUID = 1;
        private final Body body;

        Draw(Body body) {
            this.body = body;
        }

        @Override
        public int getMinArgs() {
            return 1;
        }

        @Override
        public int getMaxArgs() {
            return 2;
        }

        @Override
        public Object execute(TransitionSystem ts, Unifier unifier, Term[] terms) throws Exception {
            checkArguments(terms);
            if (terms.length == 1) {
                return unifier.unifies(terms[0], new NumberTermImpl(body.numbers.nextDouble()));
            }
            List<Term> list = ((ListTerm) terms[0]).getAsList();
            return !list.isEmpty() && unifier.unifies(terms[1], list.get(body.numbers.nextInt(list.size())));
        }
    }

    /** {@code .shuffle(List, Shuffled)}. */
    static final class Shuffle extends DefaultInternalAction {
        private static final long serialVersionUID = 1;
        private final Body body;

        Shuffle(Body body) {
            this.body = body;
        }

        @Override
        public int getMinArgs() {
            return 2;
        }

        @Override
        public int getMaxArgs() {
            return 2;
        }

        @Override
        public Object execute(TransitionSystem ts, Unifier unifier, Term[] terms) throws Exception {
            checkArguments(terms);
            List<Term> shuffling = new ArrayList<>(((ListTerm) terms[0]).getAsList());
            body.shuffle(shuffling);
            ListTerm shuffled = new ListTermImpl();
            shuffled.addAll(shuffling);
            return unifier.unifies(terms[1], shuffled);
        }
    }

    /** {@code math.random} and {@code math.random(N)}. */
    static final class Number extends DefaultArithFunction {
        private static final long serialVersionUID = 1;
        private final Body body;

        Number(Body body) {
            this.body = body;
        }

        @Override
        public String getName() {
            return "math.random";
        }

        @Override
        public boolean checkArity(int arity) {
            return arity < 2;
        }

        @Override
        public double evaluate(TransitionSystem ts, Term[] terms) throws Exception {
            return body.numbers.nextDouble() * (terms.length == 1 ? ((NumberTerm) terms[0]).solve() : 1);
        }
    }
}
