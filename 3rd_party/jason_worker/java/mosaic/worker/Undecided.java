package mosaic.worker;

/** An agent has not chosen an action; the message says why. */
public class Undecided extends Exception {
    private static final long serialVersionUID = 1;

    public Undecided(String why) {
        super(why);
    }
}
