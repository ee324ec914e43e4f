import { z } from 'zod';
import { agentRef, timestamp } from '../../records/agent.ts';
import { exampleAgents, exampleMessage, exampleThread } from '../../records/examples.ts';
import { threadIdentifier } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const messageRead = defineEvent({
  type: 'message.read',
  label: 'Message read',
  scope: 'threads:read',
  isInboxItem: false,
  filters: ['thread_id'],
  handles: ({ agent }) => [agent.canonical_handle],
  resources: ['service://threads', 'service://threads/{thread_id}'],
  data: z
    .object({
      thread_id: threadIdentifier,
      agent: agentRef.describe('The member that has read.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is read.'),
      read_at: timestamp,
    })
    .meta({ id: 'MessageRead', description: 'A member has read messages.' }),
  example: {
    thread_id: exampleThread.id,
    agent: exampleAgents.support,
    up_to_sequence: 1,
    read_at: exampleMessage.created_at,
  },
});
