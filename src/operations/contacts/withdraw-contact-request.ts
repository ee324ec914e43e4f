import { z } from 'zod';
import { withdrawContactRequestInput } from '../../../packages/core/src/inputs/contacts.ts';
import { withdrawRequest } from '../../services/contacts/request-decisions.ts';
import { defineOperation } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';

export const withdrawContactRequestOperation = defineOperation({
  name: 'withdraw_contact_request',
  summary: 'Withdraw a contact request that you sent',
  scope: 'contacts:write',
  kind: 'write',
  input: withdrawContactRequestInput,
  output: z.object({}),
  async run(work, { request_ref }) {
    await withdrawRequest(work, request_ref);
    return {};
  },
  rest: {
    method: 'DELETE',
    path: '/contacts/requests/{request_ref}',
    forms: 'short-and-long',
    status: 204,
  },
  errors: ['REQUEST_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { request_ref: exampleRequest.request_id }, output: {} },
});
