package mosaic.worker;

/** A slot cannot be played; the message says why, and what helps. */
public class Refused extends Exception {
    private static final long serialVersionUID = 1;

    public Refused(String why) {
        super(why);
    }
}
