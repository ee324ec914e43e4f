import { z } from 'zod';
import { releaseMessageInput } from '../../../packages/core/src/inputs/inbox.ts';
import { timestamp } from '../../../packages/core/src/records/agent.ts';
import { releaseLease } from '../../services/inbox/leases.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleLeaseState } from './fields.ts';

export const releaseMessageOperation = defineOperation({
  name: 'release_message',
  summary: 'Release a lease: another instance gets the item',
  scope: 'threads:write',
  kind: 'write',
  input: releaseMessageInput,
  output: z.object({
    state: z
      .enum(['ready', 'dead'])
      .describe('ready: an instance gets it again. dead: this was the last of max_attempts.'),
    attempts: z.int().min(1).describe('How often it was leased.'),
    ready_at: timestamp.describe('From this time on an instance gets it, if it is ready.'),
  }),
  async run(work, { lease_id, delay_seconds, reason = null }) {
    return releaseLease(work, lease_id, { delay_seconds, reason });
  },
  rest: { method: 'POST', path: '/inbox/leases/{lease_id}/release', status: 200 },
  tool: {
    description:
      'Gives a message of claim_messages back: another instance of your agent gets it, at once or after a delay. Use it when you cannot handle it now, and say why. After an answer, use acknowledge_message.',
    annotations: toolHints.write,
  },
  errors: ['LEASE_NOT_FOUND', 'LEASE_LOST'],
  example: {
    input: {
      lease_id: exampleLeaseState.id,
      delay_seconds: 30,
      reason: 'The order system does not answer.',
    },
    output: { state: 'ready', attempts: 1, ready_at: 1_794_000_090_000 },
  },
});
