/** How long a watch link can last, in milliseconds. */
export const watchLinkMs = { min: 3_600_000, max: 30 * 24 * 3_600_000 };

/** Open watch links of one thread. */
export const maxWatchLinks = 20;

/** A link that ended is removed after it, in milliseconds. */
export const endedWatchLinkMs = 30 * 24 * 3_600_000;
