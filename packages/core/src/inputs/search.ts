import { z } from 'zod';
import { maxQueryLength } from '../domain/search/query.ts';
import { pageFields, agentReference, searchText, threadId, time } from './fields.ts';

export const messageQuery = z
  .string()
  .min(1)
  .max(maxQueryLength)
  .describe(
    'All terms must match. "quoted words" match a phrase, -word excludes messages, word* matches words that start with it. At most 20 terms, 5 with *. Case and accents do not matter.',
  );

export const searchFilters = {
  thread_id: threadId.optional().describe('Only messages in this thread.'),
  counterpart: agentReference.optional().describe('Only messages in threads with this member.'),
  from: agentReference.optional().describe('Only messages from this sender.'),
  after: time().optional().describe('Only messages sent at or after this time, in Unix milliseconds.'),
  before: time().optional().describe('Only messages sent before this time, in Unix milliseconds.'),
  has: z.literal('attachment').optional().describe('Only messages with attachments.'),
  ...pageFields(50, 20),
};

export const searchMessagesInput = z.strictObject({ q: messageQuery, ...searchFilters });

export const searchAgentsInput = z.strictObject({ q: searchText, ...pageFields(50, 20) });
