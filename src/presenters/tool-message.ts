import { z } from 'zod';
import { wantsNoReply } from '../domain/threads.ts';
import { type Relationship, relationships } from '../domain/agents/agents.ts';
import { type MessageColumns, messageSchema, presentMessage } from './message.ts';

/** A message as tools show it: with what helps a model to weigh it. */
export const toolMessageSchema = messageSchema.extend({
  relationship: z.enum(relationships).describe('How the sender belongs to you.'),
  reply_expected: z
    .literal(false)
    .optional()
    .describe('The sender wants no answer to it: do not send one for its own sake.'),
});

export function presentToolMessage(
  row: MessageColumns,
  relationship: Relationship,
): z.infer<typeof toolMessageSchema> {
  const message = presentMessage(row);
  return {
    ...message,
    relationship,
    ...(wantsNoReply(message.metadata) && { reply_expected: false as const }),
  };
}
