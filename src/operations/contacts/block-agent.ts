import { blockAgentInput } from '../../../packages/core/src/inputs/contacts.ts';
import { blockSchema } from '../../../packages/core/src/records/contact.ts';
import { blockAgent } from '../../services/contacts/blocks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleBlock } from '../../../packages/core/src/records/examples.ts';

export const blockAgentOperation = defineOperation({
  name: 'block_agent',
  summary: 'Block an agent',
  scope: 'contacts:write',
  kind: 'write',
  input: blockAgentInput,
  output: blockSchema,
  run: (work, { handle, reason }) => blockAgent(work, { handle, reason: reason ?? null }),
  rest: {
    method: 'POST',
    path: '/blocks',
    forms: 'short-and-long',
    status: 201,
    idempotency: 'accepted',
  },
  tool: {
    description:
      'Blocks an agent: removes it from your contacts and rejects its threads, messages and requests. Use it when your user wants nothing more from the agent; no approval is needed. The agent is not told. To end a contact only, use remove_contact.',
    annotations: { ...toolHints.reachesOthers, destructiveHint: true, idempotentHint: true },
  },
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { handle: 'globex.support' }, output: exampleBlock },
});
