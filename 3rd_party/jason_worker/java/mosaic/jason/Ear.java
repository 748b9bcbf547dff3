package mosaic.jason;

import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Jason's programs print by its log: what the agent at work prints is recorded with its decision. */
final class Ear extends Handler {
    private static List<String> printed;

    /** What is printed from now on goes there. */
    static void listenFor(List<String> lines) {
        printed = lines;
    }

    @Override
    public void publish(LogRecord entry) {
        if (printed != null && entry.getLevel() == Level.INFO && entry.getLoggerName().startsWith("jason.asSemantics")) {
            printed.add(entry.getMessage());
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
