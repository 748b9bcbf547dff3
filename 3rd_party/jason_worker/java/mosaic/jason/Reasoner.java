package mosaic.jason;

import jason.JasonException;
import jason.asSemantics.Agent;
import jason.asSemantics.Event;
import jason.asSemantics.IntendedMeans;
import jason.asSemantics.Intention;
import jason.asSemantics.TransitionSystem;
import jason.asSyntax.Literal;
import jason.asSyntax.StringTerm;
import jason.asSyntax.Term;
import jason.asSyntax.Trigger;
import java.util.ArrayList;
import java.util.List;

/** Jason's reasoning cycle, with what failed and why. */
final class Reasoner extends TransitionSystem {
    private static final long serialVersionUID = 1;

    private final Body body;
    private String reason = "";

    Reasoner(Agent agent, Body body) {
        super(agent, null, null, body);
        this.body = body;
    }

    @Override
    public boolean generateGoalDeletion(Intention intention, List<Term> annots, Term why) throws JasonException {
        reason = said(annots, why);
        try {
            return super.generateGoalDeletion(intention, annots, why);
        } finally {
            reason = "";
        }
    }

    /** The plan that takes over, or none: in either case goals have failed, from the inside outwards. */
    @Override
    public Event findEventForFailure(Intention intention, Trigger failed) {
        List<Literal> goals = new ArrayList<>();
        goals.add(failed.getLiteral());
        if (intention != null) {
            for (IntendedMeans means : intention) {
                if (means.getTrigger() != failed && means.getTrigger().isGoal()) {
                    goals.add(means.getTrigger().getLiteral());
                }
            }
        }
        Event event = super.findEventForFailure(intention, failed);
        Literal goal = failed.getLiteral();
        String why = reason.isEmpty() ? "no applicable plan for " + called(failed, goal) : reason;
        for (Literal each : goals) {
            body.thought.failed.add(Terms.text(each) + ": " + why);
            if (event != null && each.getPredicateIndicator().equals(event.getTrigger().getLiteral().getPredicateIndicator())) {
                break;
            }
        }
        return event;
    }

    private static String called(Trigger trigger, Literal goal) {
        return "+" + (trigger.isAchvGoal() ? "!" : "?") + goal.getFunctor() + "/" + goal.getArity();
    }

    private static String said(List<Term> annots, Term why) {
        if (annots != null) {
            for (Term each : annots) {
                if (each instanceof Literal annot && annot.getFunctor().equals("error_msg")
                        && annot.getTerm(0) instanceof StringTerm message && !message.getString().isEmpty()) {
                    return message.getString();
                }
            }
        }
        return why == null ? "it failed" : why.toString().replace('_', ' ');
    }
}
