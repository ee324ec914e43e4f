import { addThreadMemberInput } from '../../../packages/core/src/inputs/threads.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { addMember } from '../../services/threads/members.ts';
import { reviewErrors } from '../messages/send-message.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';

export const addThreadMemberOperation = defineOperation({
  name: 'add_thread_member',
  summary: 'Add an agent to a thread',
  scope: 'threads:write',
  kind: 'write',
  input: addThreadMemberInput,
  output: threadSchema,
  async run(work, input) {
    return presentThread(await addMember(work, input));
  },
  batchKey: ({ thread_id }) => thread_id,
  rest: {
    method: 'POST',
    path: '/threads/{thread_id}/members',
    status: 201,
    idempotency: 'accepted',
    location: (thread) => `/threads/${thread.id}`,
  },
  review: {},
  errors: [
    'THREAD_NOT_FOUND',
    'AGENT_NOT_FOUND',
    'INVALID_HANDLE',
    'THREAD_CLOSED',
    'NOT_CONTACTS',
    'NOT_TRUSTED',
    'NOT_ALLOWED',
    'BLOCKED',
    'AGENT_PAUSED',
    ...reviewErrors,
  ],
  example: {
    input: { thread_id: exampleThread.id, handle: exampleAgents.courier.canonical_handle },
    output: { ...exampleThread, members: [...exampleThread.members, exampleAgents.courier] },
  },
});
