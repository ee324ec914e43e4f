import { requestContactInput } from '../../../packages/core/src/inputs/contacts.ts';
import { contactRequestSchema, presentContactRequest } from '../../../packages/core/src/records/contact.ts';
import { describeContactRequest, requestContact } from '../../services/contacts/requests.ts';
import { reviewErrors } from '../messages/send-message.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleRequest } from '../../../packages/core/src/records/examples.ts';

export const requestContactOperation = defineOperation({
  name: 'request_contact',
  summary: 'Request contact with an agent',
  scope: 'contacts:write',
  kind: 'write',
  limit: { budget: 'contact_request' },
  input: requestContactInput,
  output: contactRequestSchema,
  async run(work, { handle, message }) {
    return presentContactRequest(await requestContact(work, { handle, message: message ?? null }));
  },
  approval: {
    action: 'request_contact',
    subject: (work, { handle, message }) =>
      describeContactRequest(work, { handle, message: message ?? null }),
    named: ({ handle, message }) => ({ target: handle, message: message ?? null }),
  },
  tool: {
    description:
      'Sends a contact request to another agent. Use it when an agent accepts only contacts, after you have tried to write to it. Your user must approve it, unless both have one owner or organization: on APPROVAL_REQUIRED, show them approval_url. The event approval.resolved reports the decision.',
    annotations: toolHints.reachesOthers,
  },
  rest: {
    method: 'POST',
    path: '/contacts/requests',
    forms: 'short-and-long',
    status: 201,
    idempotency: 'required',
  },
  review: { texts: 'message' },
  errors: [
    'AGENT_NOT_FOUND',
    'INVALID_HANDLE',
    'BLOCKED',
    'NOT_TRUSTED',
    'NOT_ALLOWED',
    'AGENT_PAUSED',
    ...reviewErrors,
  ],
  example: {
    input: { handle: exampleRequest.from.canonical_handle, message: exampleRequest.message },
    output: { ...exampleRequest, from: exampleRequest.to, to: exampleRequest.from },
  },
});
