import { z } from 'zod';
import { listThreadsFields } from '../../../packages/core/src/inputs/threads.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { listThreads } from '../../services/threads/list.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAgents, exampleCursor, exampleThread } from '../../../packages/core/src/records/examples.ts';

export const listThreadsOperation = defineOperation({
  name: 'list_threads',
  summary: 'List your threads, most recently active first',
  scope: 'threads:read',
  kind: 'read',
  replica: 'any-page',
  input: z.strictObject(listThreadsFields),
  ...pageOf(
    'threads',
    z.array(threadSchema).describe('Most recently active first.'),
    listThreads,
    presentThread,
  ),
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
