import { z } from 'zod';
import { threadStatuses } from '../../../packages/core/src/domain/threads.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { listThreads } from '../../services/threads/list.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleCursor, exampleThread } from '../../../packages/core/src/records/examples.ts';
import { agentHandle, nextCursor, pageFields, time } from '../fields.ts';

/** The input of every list of threads. */
export const listThreadsFields = {
  status: z
    .enum(threadStatuses, {
      error: ({ input }) =>
        input === undefined
          ? undefined
          : `must be one of: ${threadStatuses.join(', ')}; leave it out for all except archived`,
    })
    .optional()
    .describe('Only threads with this status. Default: all except archived.'),
  with_handle: agentHandle.optional().describe('Only threads with this member.'),
  updated_since: time()
    .optional()
    .describe('Only threads updated at or after this time, in milliseconds since the Unix epoch.'),
  unread: z.boolean().optional().describe('true: only threads with messages of others after your read mark.'),
  ...pageFields(100, 20),
};

export const listThreadsOperation = defineOperation({
  name: 'list_threads',
  summary: 'List your threads, most recently active first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'any-page',
  input: z.strictObject(listThreadsFields),
  output: z.object({
    threads: z.array(threadSchema).describe('Most recently active first.'),
    next_cursor: nextCursor,
  }),
  async run(work, input) {
    const page = await listThreads(work, input);
    return { threads: page.threads.map(presentThread), next_cursor: page.next_cursor };
  },
  rest: { method: 'GET', path: '/threads', forms: 'short-and-long', status: 200 },
  resource: {
    uri: 'service://threads',
    name: 'threads',
    description: 'Your threads, most recently active first.',
  },
  errors: ['INVALID_HANDLE'],
  example: {
    input: { status: 'active', with_handle: exampleAgents.support.canonical_handle, limit: 20 },
    output: { threads: [exampleThread], next_cursor: exampleCursor },
  },
});
