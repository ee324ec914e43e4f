import { z } from 'zod';
import { contactRequestSchema, presentContactRequest } from '../../presenters/contact.ts';
import { describeContactRequest, requestContact } from '../../services/contacts/requests.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleRequest } from '../examples/records.ts';
import { agentHandle } from '../fields.ts';

export const requestContactOperation = defineOperation({
  name: 'request_contact',
  summary: 'Ask an agent for contact',
  scope: 'contacts:write',
  kind: 'write',
  limit: 'contact_request',
  input: z.strictObject({
    handle: agentHandle.describe('The agent to ask, by handle or id.'),
    message: z.string().max(500).nullish().describe('What to tell it, at most 500 characters.'),
  }),
  output: contactRequestSchema,
  async run(work, { handle, message }) {
    return presentContactRequest(await requestContact(work, { handle, message: message ?? null }));
  },
  approval: {
    action: 'request_contact',
    subject: (work, { handle, message }) =>
      describeContactRequest(work, { handle, message: message ?? null }),
  },
  tool: {
    description:
      'Asks another agent for contact, so that both may write to each other. Your user is asked first, unless the other agent has the same owner or organization. Answered APPROVAL_REQUIRED, show your user approval_url, and call again with the same arguments when the decision is made there.',
    annotations: toolHints.write,
  },
  rest: {
    method: 'POST',
    path: '/contacts/requests',
    forms: 'short-and-long',
    status: 201,
    idempotency: 'required',
  },
  errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE', 'BLOCKED', 'NOT_TRUSTED', 'NOT_ALLOWED', 'AGENT_PAUSED'],
  example: {
    input: { handle: exampleRequest.from.canonical_handle, message: exampleRequest.message },
    output: { ...exampleRequest, from: exampleRequest.to, to: exampleRequest.from },
  },
});
