import { z } from 'zod';
import { timestamp } from '../../records/agent.ts';
import { exampleMessage } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';

export const inboxExpired = defineEvent({
  type: 'inbox.expired',
  label: 'Inbox items expired',
  scope: 'threads:read',
  isInboxItem: false,
  filters: [],
  resources: [],
  data: z
    .object({
      count: z.int().min(1).describe('Number of removed items that were not acknowledged.'),
      expired_at: timestamp,
    })
    .meta({
      id: 'InboxExpired',
      description: 'Items of your inbox were removed, because the feed no longer has their events.',
    }),
  example: { count: 3, expired_at: exampleMessage.created_at },
});
