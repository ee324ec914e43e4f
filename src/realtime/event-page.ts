import { z } from 'zod';

const cursor = z.string().describe('A position in the feed: the cursor of an event or of a page.');

/** What a caller who reads the feed page by page may ask for, whatever its door. */
export const pageQuery = {
  cursor: cursor
    .optional()
    .describe('Events behind this one. Without it: the acknowledged position, or now.'),
  limit: z.int().min(1).max(100).default(50).describe('How many at most: 1–100.'),
};

/** What stands beside the events of a page. */
export const pageState = {
  cursor: cursor.describe('Where to go on.'),
  complete: z.boolean().describe('False when more events lie behind the cursor already.'),
  gap: z.literal(true).optional().describe('Events after the given cursor are no longer kept.'),
};

/** A position to be kept for good. */
export const acknowledgeInput = z.strictObject({ cursor });
