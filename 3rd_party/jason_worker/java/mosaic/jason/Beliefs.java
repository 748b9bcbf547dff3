package mosaic.jason;

import jason.asSemantics.Unifier;
import jason.asSyntax.Literal;
import jason.asSyntax.PredicateIndicator;
import jason.bb.DefaultBeliefBase;
import java.util.Iterator;

/** A belief base that is not asked for ever: rules can call each other without end within one step. */
final class Beliefs extends DefaultBeliefBase {
    private static final long serialVersionUID = 1;
    private static final int LOOKS = 256;

    private long until;
    private int asked;

    /** The moment, of {@link System#nanoTime}, after which nothing is found any more. */
    void limit(long moment) {
        until = moment;
    }

    @Override
    public Iterator<Literal> getCandidateBeliefs(Literal pattern, Unifier unifier) {
        look();
        return super.getCandidateBeliefs(pattern, unifier);
    }

    @Override
    public Iterator<Literal> getCandidateBeliefs(PredicateIndicator indicator) {
        look();
        return super.getCandidateBeliefs(indicator);
    }

    private void look() {
        if (++asked % LOOKS == 0 && until != 0 && System.nanoTime() - until > 0) {
            throw new Overdue();
        }
    }

    /** The time for a decision is over. An error, since the interpreter goes on after exceptions. */
    static final class Overdue extends Error {
        private static final long serialVersionUID = 1;

        Overdue() {
            super("no time is left", null, false, false);
        }
    }
}
