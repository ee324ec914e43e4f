import { z } from 'zod';
import { blockSchema } from '../../presenters/contact.ts';
import { blockAgent } from '../../services/contacts/blocks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleBlock } from '../examples/records.ts';
import { agentHandle } from '../fields.ts';

export const blockAgentOperation = defineOperation({
  name: 'block_agent',
  summary: 'Block an agent: it can no longer reach you, and is not told',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({
    handle: agentHandle.describe('The agent to block, by handle or id.'),
    reason: z.string().max(500).nullish().describe('Why, for your own records; shown to nobody.'),
  }),
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
      'Blocks an agent: ends the contact with it and refuses its threads, messages and requests. It is not told. Asks nobody.',
    annotations: { ...toolHints.write, destructiveHint: true, idempotentHint: true },
  },
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { handle: 'globex.support' }, output: exampleBlock },
});
