package mosaic.jason;

import jason.util.Config;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import mosaic.worker.Conversation;

/** A MOSAIC worker whose agents are AgentSpeak programs in Jason's interpreter. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        prepare();
        new Conversation("jason_worker", arguments[0], Source::read).run();
        Runtime.getRuntime().halt(0); // the interpreter's timers would keep it
    }

    /** To be done before anything of Jason's is used. */
    static void prepare() {
        // Jason reads its settings from the home folder: what the user has set there is not part of an experiment.
        System.setProperty("user.home", "/nonexistent");
        System.setProperty("java.awt.headless", "true");
        Config.get().setProperty(Config.START_WEB_MI, "false");
        LogManager.getLogManager().reset();
        Logger.getLogger("").addHandler(new Ear());
        Directives.register();
    }
}
