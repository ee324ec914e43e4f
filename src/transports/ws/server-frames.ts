import { z } from 'zod';
import { errorStatuses } from '../../domain/errors.ts';

/** What the service sends beside events (contract, section 4). */
export const serverFrames = {
  ready: z
    .object({
      type: z.literal('ready').describe('The first frame of every connection.'),
      data: z
        .object({
          agent_id: z.string().meta({ pattern: '^agt_' }).describe('Whose feed this is.'),
          cursor: z.string().describe('Where the connection starts: it brings every event behind this one.'),
          resumed: z
            .boolean()
            .describe('Whether it starts at your cursor or your acknowledged position, and not at now.'),
          gap: z
            .boolean()
            .describe('Whether events behind your position are no longer kept: read your state anew.'),
        })
        .describe('Where you are.'),
    })
    .meta({ id: 'ReadyFrame', description: 'The connection is open; events follow.' }),
  pong: z
    .object({ type: z.literal('pong').describe('The answer to ping.') })
    .meta({ id: 'PongFrame', description: 'The service is there.' }),
  error: z
    .object({
      type: z.literal('error').describe('What you sent was not taken.'),
      data: z
        .object({
          code: z.enum(Object.keys(errorStatuses)).describe('For programs.'),
          message: z.string().describe('For people.'),
        })
        .describe('What was wrong with it.'),
    })
    .meta({ id: 'ErrorFrame', description: 'A frame of yours was not taken; the connection stays.' }),
} as const;

export type ServerFrame = {
  [Type in keyof typeof serverFrames]: z.infer<(typeof serverFrames)[Type]>;
}[keyof typeof serverFrames];

/** A frame as it is sent. */
export function frameText(frame: ServerFrame): string {
  return JSON.stringify(frame);
}
