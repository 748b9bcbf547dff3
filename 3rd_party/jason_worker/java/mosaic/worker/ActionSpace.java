package mosaic.worker;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/** A slot's action space: how many actions there are, and the bytes of one. */
public final class ActionSpace {
    /** Name of the Gymnasium space. */
    public final String kind;

    private final String dtype;
    private final long start;
    private final int size;

    ActionSpace(Map<String, Object> space) {
        kind = (String) space.get("kind");
        dtype = (String) space.getOrDefault("dtype", "int64");
        boolean discrete = kind.equals("Discrete");
        start = discrete ? Json.whole(space.get("start")) : 0;
        size = (int) (discrete ? Json.whole(space.get("n")) : count(space));
    }

    private static long count(Map<String, Object> space) {
        return space.containsKey("nvec") ? flat(space.get("nvec")) : product(Json.list(space.get("shape")));
    }

    private static long flat(Object value) {
        return value instanceof List<?> list ? list.stream().mapToLong(ActionSpace::flat).sum() : 1;
    }

    private static long product(List<Object> shape) {
        return shape.stream().mapToLong(Json::whole).reduce(1, (a, b) -> a * b);
    }

    /** Whether values of this kind of space can be written. */
    boolean isKnown() {
        return List.of("Discrete", "Box", "MultiDiscrete", "MultiBinary").contains(kind);
    }

    /** Number of actions of a discrete space; else 0. */
    int actions() {
        return kind.equals("Discrete") ? size : 0;
    }

    /** The k-th action of a discrete space. */
    long action(int k) {
        return start + k;
    }

    /**
     * The bytes of one action.
     *
     * @throws Undecided It has not so many numbers, or one would become another in the space's type.
     */
    byte[] bytes(double... values) throws Undecided {
        int wanted = kind.equals("Discrete") ? 1 : size;
        if (values.length != wanted) {
            throw new Undecided("an action has " + wanted + " numbers here, not " + values.length);
        }
        ByteBuffer out = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            if (!fits(value)) {
                throw new Undecided("an action's numbers are " + dtype + " here, which " + text(value) + " is not");
            }
            put(out, value);
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private boolean fits(double value) {
        int bits = Integer.parseInt("0" + dtype.replaceAll("\\D", ""));
        if (dtype.startsWith("float")) {
            return !Double.isNaN(value);
        }
        if (dtype.equals("bool")) {
            return value == 0 || value == 1;
        }
        boolean signed = !dtype.startsWith("u");
        double least = signed ? -Math.pow(2, bits - 1) : 0;
        return value == Math.rint(value) && least <= value && value < Math.pow(2, signed ? bits - 1 : bits);
    }

    private static String text(double value) {
        return Double.isNaN(value) ? "one of them" : String.valueOf(value).replaceAll("\\.0$", "");
    }

    private void put(ByteBuffer out, double value) {
        switch (dtype) {
            case "float64":
                out.putDouble(value);
                break;
            case "float32":
                out.putFloat((float) value);
                break;
            case "int64", "uint64":
                out.putLong((long) value);
                break;
            case "int32", "uint32":
                out.putInt((int) (long) value);
                break;
            case "int16", "uint16":
                out.putShort((short) value);
                break;
            default: // int8, uint8, bool
                out.put((byte) value);
        }
    }
}
