package mosaic.jason;

import jason.asSyntax.Pred;
import jason.asSyntax.directives.DefaultDirective;
import jason.asSyntax.directives.DirectiveProcessor;
import jason.asSyntax.parser.as2j;

/** In the place of directives that read other files, or load classes. Public for the interpreter, which makes it. */
public final class RefusedDirective extends DefaultDirective {
    /** One stands in a program. */
    static final class Found extends RuntimeException {
        private static final long serialVersionUID = 1;

        final int line;

        private Found(Pred directive, int line) {
            super(directive.getFunctor());
            this.line = line;
        }
    }

    /** Have them refused from now on. */
    static void register() {
        DirectiveProcessor.registerDirective("include", RefusedDirective.class);
        DirectiveProcessor.registerDirective("register_function", RefusedDirective.class);
    }

    @Override
    public void begin(Pred directive, as2j parser) {
        throw new Found(directive, parser.token.beginLine);
    }
}
