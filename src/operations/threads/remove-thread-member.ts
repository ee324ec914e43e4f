import { removeThreadMemberInput } from '../../../packages/core/src/inputs/threads.ts';
import { removeMember } from '../../services/threads/members.ts';
import { defineAction } from '../define.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';

export const removeThreadMemberOperation = defineAction({
  name: 'remove_thread_member',
  summary: 'Leave a thread or remove a member',
  scope: 'threads:write',
  kind: 'write',
  input: removeThreadMemberInput,
  run: (work, input) => removeMember(work, input),
  batchKey: ({ thread_id }) => thread_id,
  rest: { method: 'DELETE', path: '/threads/{thread_id}/members/{member_ref}', status: 204 },
  errors: ['THREAD_NOT_FOUND', 'AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { thread_id: exampleThread.id, member_ref: exampleAgents.courier.canonical_handle },
});
