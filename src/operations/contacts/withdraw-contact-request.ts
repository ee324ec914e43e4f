import { withdrawContactRequestInput } from '../../../packages/core/src/inputs/contacts.ts';
import { withdrawRequest } from '../../services/contacts/request-decisions.ts';
import { defineAction } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';

export const withdrawContactRequestOperation = defineAction({
  name: 'withdraw_contact_request',
  summary: 'Withdraw a contact request that you sent',
  scope: 'contacts:write',
  kind: 'write',
  input: withdrawContactRequestInput,
  run: (work, { request_ref }) => withdrawRequest(work, request_ref),
  rest: {
    method: 'DELETE',
    path: '/contacts/requests/{request_ref}',
    forms: 'short-and-long',
    status: 204,
  },
  errors: ['REQUEST_NOT_FOUND', 'INVALID_HANDLE'],
  example: { request_ref: exampleRequest.request_id },
});
