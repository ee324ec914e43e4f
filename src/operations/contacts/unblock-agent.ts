import { z } from 'zod';
import { unblockAgent } from '../../services/contacts/blocks.ts';
import { defineAction, toolHints } from '../define.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const unblockAgentOperation = defineAction({
  name: 'unblock_agent',
  summary: 'Unblock an agent',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ handle: agentReference }),
  run: (work, { handle }) => unblockAgent(work, handle),
  rest: { method: 'DELETE', path: '/blocks/{handle}', forms: 'short-and-long', status: 204 },
  tool: {
    description:
      'Unblocks an agent. Use it when your user wants its messages again. It restores no contact: use request_contact. A contact request of the agent during the block is announced now.',
    annotations: { ...toolHints.write, idempotentHint: true },
  },
  errors: ['NOT_FOUND', 'INVALID_HANDLE'],
  example: { handle: 'globex.support' },
});
