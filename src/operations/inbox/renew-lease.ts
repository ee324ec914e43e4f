import { renewLeaseInput } from '../../../packages/core/src/inputs/inbox.ts';
import { renewLease } from '../../services/inbox/leases.ts';
import { defineOperation } from '../define.ts';
import { exampleLeaseState, leaseState } from './fields.ts';

export const renewLeaseOperation = defineOperation({
  name: 'renew_lease',
  summary: 'Extend a lease, for work that takes longer',
  scope: 'threads:write',
  kind: 'write',
  input: renewLeaseInput,
  output: leaseState,
  async run(work, { lease_id, lease_seconds }) {
    return renewLease(work, lease_id, lease_seconds);
  },
  rest: { method: 'POST', path: '/inbox/leases/{lease_id}/renew', status: 200 },
  errors: ['LEASE_NOT_FOUND', 'LEASE_LOST'],
  example: {
    input: { lease_id: exampleLeaseState.id, lease_seconds: 60 },
    output: exampleLeaseState,
  },
});
