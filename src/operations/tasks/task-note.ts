import { z } from 'zod';

/** What a model needs to know about a message that asks it. */
export const taskNote = z
  .string()
  .optional()
  .describe('For a message that asks you in an open task: who waits, since when and until when.');
