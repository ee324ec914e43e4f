import { z } from 'zod';
import { wantsNoReply } from '../domain/no-reply.ts';
import { type Relationship, relationships } from '../domain/agents/relations.ts';
import { type MessageColumns, messageSchema, presentMessage } from './message.ts';

/** Message record of MCP tools, with fields that help a model to judge the message. */
export const toolMessageSchema = messageSchema.extend({
  relationship: z.enum(relationships).describe('Relationship of the sender to you.'),
  reply_expected: z.literal(false).optional().describe('The sender expects no reply; do not send one.'),
});

/** Returns a message for a tool result. */
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
