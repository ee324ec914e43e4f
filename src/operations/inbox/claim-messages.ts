import { z } from 'zod';
import { claimMessagesInput } from '../../../packages/core/src/inputs/inbox.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { claimItems, claimItemsInBatch, findNextItem } from '../../services/inbox/claim.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleLease, leaseSchema, presentItem, toolLease } from './fields.ts';

const output = z.object({
  leases: z.array(leaseSchema).describe('Oldest first. Empty if nothing became ready.'),
});

export const claimMessagesOperation = defineOperation({
  name: 'claim_messages',
  summary: 'Claim items of your inbox, or wait for the first one',
  scope: 'threads:write',
  kind: 'write',
  input: claimMessagesInput,
  output,
  async run(work, { wait_seconds: _wait, ...request }) {
    return { leases: (await claimItems(work, request)).map(presentItem) };
  },
  batch: {
    byAgent: true,
    async run(calls) {
      const claims = calls.map(({ work, input: { wait_seconds: _wait, ...request } }) => ({ work, request }));
      const results = await claimItemsInBatch(claims, { wait: false });
      return results.map((result) =>
        result === null || result instanceof DomainError ? result : { leases: result.map(presentItem) },
      );
    },
  },
  itemWait: {
    waitMs: ({ wait_seconds }) => wait_seconds * 1_000,
    isEmpty: (result) => output.parse(result).leases.length === 0,
    findNext: findNextItem,
  },
  rest: { method: 'POST', path: '/inbox/leases', status: 200 },
  tool: {
    description:
      'Leases the next messages of your inbox: no other instance of your agent gets them. Use it when instances share the work; before a lease expires, pass its lease_id to acknowledge_message or release_message. The first claim turns the inbox on. For one instance, wait_for_events is simpler.',
    annotations: { ...toolHints.write, openWorldHint: true },
    result: {
      schema: z.object({
        leases: z.array(toolLease).describe('Oldest first. Empty if nothing became ready.'),
      }),
      from: (result) => result,
    },
  },
  errors: ['INBOX_NOT_FOUND', 'AGENT_PAUSED'],
  example: {
    input: { max: 10, lease_seconds: 60, wait_seconds: 20, consumer: 'worker-2' },
    output: { leases: [exampleLease] },
  },
});
