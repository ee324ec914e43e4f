import { z } from 'zod';
import { agentRef, timestamp } from '../../records/agent.ts';
import { exampleAgents, exampleMessage, exampleThread } from '../../records/examples.ts';
import { threadIdentifier } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const messageHandled = defineEvent({
  type: 'message.handled',
  label: 'Message handled',
  scope: 'threads:read',
  isInboxItem: false,
  filters: ['thread_id'],
  handles: ({ agent }) => [agent.canonical_handle],
  resources: [],
  data: z
    .object({
      thread_id: threadIdentifier,
      agent: agentRef.describe('The member whose instances handled the messages.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is handled.'),
      handled_at: timestamp,
    })
    .meta({ id: 'MessageHandled', description: 'A member has handled messages in its inbox.' }),
  example: {
    thread_id: exampleThread.id,
    agent: exampleAgents.support,
    up_to_sequence: 1,
    handled_at: exampleMessage.created_at,
  },
});
