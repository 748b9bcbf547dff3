package mosaic.jason;

import java.util.random.RandomGenerator;

/**
 * Random numbers from the episode's seed and the step, those of {@code spade_bdi_worker}: SplitMix64 (Steele, Lea,
 * Flood: Fast splittable pseudorandom number generators, 2014).
 */
final class Numbers implements RandomGenerator {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    /** Begin with the numbers of one decision. */
    void seed(long seed, long step) {
        state = mixed(mixed(seed + GAMMA) + step + GAMMA);
    }

    @Override
    public long nextLong() {
        state += GAMMA;
        return mixed(state);
    }

    @Override
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }

    private static long mixed(long value) {
        long mixing = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixing = (mixing ^ (mixing >>> 27)) * 0x94D049BB133111EBL;
        return mixing ^ (mixing >>> 31);
    }
}
