import { z } from 'zod';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { requireThread } from '../../services/access.ts';
import { defineOperation } from '../define.ts';
import { exampleThread } from '../../../packages/core/src/records/examples.ts';
import { threadId } from '../../../packages/core/src/inputs/fields.ts';

export const getThreadOperation = defineOperation({
  name: 'get_thread',
  summary: 'Retrieve a thread',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({ thread_id: threadId }),
  output: threadSchema,
  async run(work, { thread_id }) {
    return presentThread(await requireThread(work, thread_id));
  },
  rest: { method: 'GET', path: '/threads/{thread_id}', status: 200 },
  errors: ['THREAD_NOT_FOUND'],
  example: { input: { thread_id: exampleThread.id }, output: exampleThread },
});
